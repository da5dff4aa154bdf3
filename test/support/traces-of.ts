/**
 * Which of the secrets, by name, can be read in a text: as they are, in hex, in the encoding of URLs, or in base64, also
 * amid other bytes.
 */
export function tracesOf(secrets: Readonly<Record<string, string>>, text: string): string[] {
  const lower = text.toLowerCase()
  return Object.entries(secrets)
    .filter(([, secret]) => {
      const bytes = Buffer.from(secret)
      const forms = [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        ...[0, 1, 2].flatMap((shift) => base64Of(bytes, shift)),
      ]
      return forms.some((form) => text.includes(form)) || lower.includes(bytes.toString('hex'))
    })
    .map(([name]) => name)
}

/** What of the base64 of something is the same whatever stands before and behind it, `shift` bytes into a group of three. */
function base64Of(bytes: Buffer, shift: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
  const sure = whole.slice(shift === 0 ? 0 : 4, Math.floor((shift + bytes.length) / 3) * 4)
  return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')]
}
