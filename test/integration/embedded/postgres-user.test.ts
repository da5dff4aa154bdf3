import { once } from 'node:events'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { choosePostgresUser, spawnAs } from '../../../src/embedded/postgres-user.ts'
import { requireRoot } from '../../support/requirements.ts'

const root = requireRoot()
const closed = mkdtempSync(join(tmpdir(), 'berth-closed-'))
afterAll(() => rmSync(closed, { recursive: true }))

async function run(script: string): Promise<string> {
  const user = choosePostgresUser([closed], join(closed, 'cluster'))
  const file = join(closed, 'output')
  const output = openSync(file, 'w')
  const child = spawnAs(user, ['/bin/sh', '-c', script], { env: {}, output })
  closeSync(output)
  await once(child, 'exit')
  return readFileSync(file, 'utf8').trim()
}

describe.skipIf(root.missing)('the user of PostgreSQL under root, where a folder on the way is closed', () => {
  const program = join(closed, 'program')
  writeFileSync(program, '#!/bin/sh\necho started\n')
  chmodSync(program, 0o755)

  it('passes it: finds a program in it and starts that', async () => {
    expect(await run(`test -x ${program} && ${program}`)).toBe('started')
  })

  it('is nobody, and may do nothing else that root may', async () => {
    const facts = 'while read -r name value _; do case $name in Uid: | CapEff:) echo $name $value; esac; done < /proc/self/status'
    expect(await run(`echo > ${closed}/written; ${facts}`)).toMatch(/Uid: 65534\nCapEff: 0000000000000004$/)
    expect(() => readFileSync(join(closed, 'written'))).toThrow('ENOENT')
  })
})
