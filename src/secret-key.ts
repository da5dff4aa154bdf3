import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keyRingOf, type KeyEntries } from './config/key-ring.ts'

/**
 * The keys that seal the secrets of an embedded installation: made at the first start and kept, readable by their owner
 * only, at `<data folder>/secret-key`. Whoever loses the file loses the secrets.
 *
 * @throws Error when the file is there and is no such thing
 */
export async function keepSecretKey(dataDir: string): Promise<KeyEntries> {
  const path = join(dataDir, 'secret-key')
  const file = await open(path, 'wx', 0o600).catch(() => null)
  if (file) {
    await file.writeFile(`first:${randomBytes(32).toString('base64')}\n`)
    await file.close()
  }
  const ring = keyRingOf((await readFile(path, 'utf8')).trim())
  if (ring === null) throw new Error(`${path} must hold id:key, the key 32 bytes in base64`)
  return ring
}
