import { createHash } from 'node:crypto'

export interface ReplicaName {
  readonly installation: string
  readonly attemptId: string
  readonly role: string
  readonly index: number
  readonly epoch: number
}

/** Native name of one replica: unique among installations, attempts, replicas and claims. At most `max` characters. */
export function replicaName({ installation, attemptId, role, index, epoch }: ReplicaName, max = 128): string {
  const head = `berth-${installation}-${attemptSuffix(attemptId)}-`
  const tail = `-${index}-e${epoch}`
  return `${head}${slug(role, max - head.length - tail.length)}${tail}`
}

/** Native name of what the replicas of an attempt share, such as a network. */
export function attemptName(installation: string, attemptId: string): string {
  return `berth-${installation}-${attemptSuffix(attemptId)}`
}

/** Host name of a replica inside its job: a DNS label (RFC 1123). */
export function replicaHostName(role: string, index: number): string {
  const tail = `-${index}`
  return `${slug(role, 63 - tail.length)}${tail}`
}

/**
 * Lower-case letters, digits and inner hyphens, at most `max` (at least 10) characters, starting with a letter or digit.
 * Where that loses anything, 8 characters of the text's hash are added, so that two texts never share a slug.
 */
export function slug(text: string, max: number): string {
  const clean = text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
  if (clean !== '' && clean === text && clean.length <= max && !looksHashed(clean)) return clean
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const room = clean.slice(0, max - 10).replace(/-+$/, '')
  return room === '' ? `x${hash}` : `${room}-x${hash}`
}

/** A text that already has the form of a shortened one must not pass as it is, or it could meet one. */
const looksHashed = (text: string): boolean => /(^|-)x[0-9a-f]{8}$/.test(text)

const attemptSuffix = (attemptId: string): string => attemptId.slice(attemptId.indexOf('_') + 1)
