import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The key of an embedded installation: made at the first start and kept, readable by its owner only, at
 * `<data folder>/api-key`.
 *
 * @returns the key and where it is kept
 */
export async function keepApiKey(dataDir: string): Promise<{ key: string; path: string }> {
  const path = join(dataDir, 'api-key')
  const file = await open(path, 'wx', 0o600).catch(() => null)
  if (file) {
    await file.writeFile(`berth_${randomBytes(32).toString('base64url')}\n`)
    await file.close()
  }
  return { key: (await readFile(path, 'utf8')).trim(), path }
}
