import { Problem } from '../domain/problem.ts'

/**
 * Reads `Content-Digest` or `Repr-Digest` (RFC 9530): sha-256 as 64 hex digits, or undefined where neither says it. Other
 * algorithms are passed over.
 *
 * @throws Problem `malformed_request`
 */
export function readDigest(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const digests = ['content-digest', 'repr-digest'].flatMap((name) => {
    const value = headers[name]
    const [, encoded] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]*):/.exec(typeof value === 'string' ? value : '') ?? []
    return encoded === undefined ? [] : [Buffer.from(encoded, 'base64')]
  })
  const [first, second] = digests
  if (first === undefined) return undefined
  if (first.byteLength !== 32 || (second !== undefined && !second.equals(first))) {
    throw new Problem('malformed_request', 'Content-Digest and Repr-Digest must be sha-256=:base64 of 32 bytes:, the same in both.')
  }
  return first.toString('hex')
}

/** The value of `Repr-Digest` for a known sha-256. */
export const digestHeader = (sha256: string): string => `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
