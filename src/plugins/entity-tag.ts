import { Problem } from '../domain/problem.ts'

/** A strong entity tag (RFC 9110, 8.8.3) that names one version of one thing. */
export const entityTag = (name: string, version: number): string => `"${name}-${version}"`

/**
 * For changes that must not overwrite what the client has not seen.
 *
 * @throws Problem `precondition_required` without `If-Match`, `precondition_failed` when it names another version
 */
export function requireMatch(ifMatch: string | undefined, current: string): void {
  if (ifMatch === undefined) {
    throw new Problem('precondition_required', 'Send `If-Match` with the ETag of the version that you read, or `*` for any.')
  }
  if (!tagsOf(ifMatch).some((tag) => tag === '*' || tag === current)) {
    throw new Problem('precondition_failed', `Its ETag is ${current} now. Read it again, and change that.`)
  }
}

/** Whether the client already has this version (`If-None-Match`, compared weakly), so that 304 says it all. */
export function isUnchanged(ifNoneMatch: string | undefined, current: string): boolean {
  return ifNoneMatch !== undefined && tagsOf(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === current)
}

const tagsOf = (header: string): string[] => header.match(/\*|(?:W\/)?"[^"]*"/g) ?? []
