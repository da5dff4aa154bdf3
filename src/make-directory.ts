import { mkdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'

/**
 * Makes a directory with all that it lies in. Gives the first that was not there, or undefined.
 *
 * Node 20 says of a full disk that there is no such directory (`ENOENT`, only here, and not in its synchronous form), so that
 * the error is asked for once more.
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    return await mkdir(path, { recursive: true, mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return mkdirSync(path, { recursive: true, mode })
  }
}
