import { StoreError } from './object-store.ts'

/** Metadata of an object that names the upload which has made it: an answer may be lost. A valid C# identifier, for Azure. */
export const MARK = 'berth_upload'

/** The whole key of an object. Some servers resolve `..`, which would lead out of the prefix. @throws StoreError `not_found` */
export function wholeKey({ prefix }: { readonly prefix: string }, key: string): string {
  if (key.split('/').some((part) => part === '..' || part === '.')) throw new StoreError('not_found', `"${key}" can be no object`)
  return `${prefix}${key}`
}
