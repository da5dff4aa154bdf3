import type { Flaw } from './fault.ts'

/** What is wrong with the permissions of a device, or null: some of `r`, `w` and `m`, each once. */
export function devicePermissionsFlaw(text: string): Flaw | null {
  if (/^[rwm]{1,3}$/.test(text) && new Set(text).size === text.length) return null
  return {
    code: 'bad_permissions',
    detail: `"${text.slice(0, 20)}" must be some of r (read), w (write) and m (make nodes), each once, such as "rw"`,
  }
}

/** The same permissions in the order `rwm`. Only for permissions without flaw. */
export const orderedPermissions = (text: string): string => [...'rwm'].filter((letter) => text.includes(letter)).join('')
