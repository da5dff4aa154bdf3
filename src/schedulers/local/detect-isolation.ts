import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { thisMachine } from './machine-view.ts'
import type { Isolation } from './local-place.ts'
import { sandboxArguments } from './sandbox.ts'

/** Makes one sandbox with all that jobs need of it: a folder, an open folder and a sized tmpfs at paths that are nowhere. */
export async function detectIsolation(): Promise<Isolation> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-sandbox-'))
  const descriptor = openSync(folder, 'r')
  try {
    const placements = [
      { path: '/berth/probe/folder', source: { folder }, readOnly: false },
      { path: '/berth/probe/open', source: { descriptor: 3 }, readOnly: true },
      { path: '/berth/probe/memory', source: { tmpfsMiB: 1 }, readOnly: false },
    ]
    const sandbox = sandboxArguments({ placements, workingDir: null, hidden: [], switchesUser: false }, thisMachine)
    const writes = 'test -w /berth/probe/folder && test -w /berth/probe/memory && test -d /berth/probe/open && ! test -w /berth/probe/open'
    const probe = (): Promise<boolean> => succeeds('bwrap', [...sandbox, '--', 'sh', '-c', writes], descriptor)
    // Asked once more: a machine that is out of breath may say no to what it can do, and then jobs would be refused.
    return (await probe()) || (await probe()) ? 'bubblewrap' : 'links'
  } finally {
    closeSync(descriptor)
    await rmdir(folder)
  }
}

function succeeds(command: string, parameters: readonly string[], descriptor: number): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
    const child = spawn(command, parameters, { env, stdio: ['ignore', 'ignore', 'ignore', descriptor], timeout: 30_000 })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
