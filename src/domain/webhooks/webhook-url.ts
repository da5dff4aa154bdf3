import type { Flaw } from '../fault.ts'

/** Ports of HTTPS that need no leave of the operator. */
export const PLAIN_PORTS = ['', '443', '8443']
const MOST = 2048

/** What is wrong with the form of a webhook's address, wherever it may lead. */
export function webhookUrlFlaw(given: string): Flaw | null {
  const bad = (detail: string): Flaw => ({ code: 'bad_url', detail })
  if (given.length > MOST) return bad(`must be at most ${MOST} characters`)
  if (!URL.canParse(given)) return bad('must be an absolute URL, such as "https://example.org/berth"')
  const url = new URL(given)
  if (!/^https?:$/.test(url.protocol)) return bad(`must be an https URL, not one of ${url.protocol}`)
  if (url.username !== '' || url.password !== '') return bad('must have no user name and no password: send a header instead')
  if (url.hash !== '') return bad('must have no fragment: it would never be sent')
  return null
}

/** Whether it may only lead to addresses that the operator names: not HTTPS, or a port of something else. */
export const needsLeave = ({ protocol, port }: URL): boolean => protocol !== 'https:' || !PLAIN_PORTS.includes(port)
