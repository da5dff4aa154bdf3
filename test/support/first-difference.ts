/** Where two outputs part, with what stands there. */
export function firstDifference(actual: Buffer, expected: Buffer): string | null {
  if (actual.equals(expected)) return null
  let at = 0
  while (actual[at] === expected[at]) at += 1
  const around = (bytes: Buffer): string => JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 20).toString('latin1'))
  return `at ${at} of ${actual.length}, not ${expected.length}, bytes: ${around(actual)}, not ${around(expected)}`
}
