import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { launchScript } from '../../../../src/schedulers/local/launch-script.ts'
import type { LocalReplica } from '../../../../src/schedulers/local/render.ts'

const home = mkdtempSync(join(tmpdir(), 'berth-launch-'))
afterAll(() => rmSync(home, { recursive: true }))

const base: LocalReplica = {
  role: 'main', index: 0, directory: 'd', argv: ['true'], env: { PATH: '/usr/bin:/bin' }, workDirectory: home, workingDir: null, user: null,
  mounts: [], limits: { cpus: null, memoryMiB: null, pids: null, shmMiB: null },
}

/** Runs the script as a supervisor does: from standard input, with the marks on descriptor 3. */
function launch(replica: Partial<LocalReplica>) {
  const marks = join(home, 'marks')
  const script = launchScript({ ...base, ...replica }, 'bubblewrap')
  const options = { input: script, env: { SECRET: 'ours' }, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync('sh', ['-c', 'exec sh 3>"$1"', 'sh', marks], options)
  return { status, stdout, stderr, marks: readFileSync(marks, 'utf8') }
}

const NASTY = ['', ' ', "it's", '"$HOME" `id` $(id)', 'a\nb\n', '\\', '*', '-x', '\u00e9\u{1f600}', "'; exit 9; '"]

test('hands over every argument as it is', () => {
  const { stdout } = launch({ argv: ['printf', '[%s]', ...NASTY] })
  expect(stdout).toBe(NASTY.map((text) => `[${text}]`).join(''))
})

test('gives exactly the environment that was asked for', () => {
  const env = { PATH: '/usr/bin:/bin', A: "it's\n$B", EMPTY: '', 'odd.name-': 'x' }
  expect(launch({ argv: ['env', '-0'], env }).stdout.split('\0').filter((line) => line !== '').sort())
    .toEqual(Object.entries(env).map(([name, value]) => `${name}=${value}`).sort())
})

test('gives the command nothing to read', () => {
  expect(launch({ argv: ['cat'] })).toMatchObject({ status: 0, stdout: '' })
})

test('makes the working directory if it can, and begins there', () => {
  const workingDir = join(home, 'new', "it's here")
  expect(launch({ argv: ['pwd'], workingDir }).stdout).toBe(`${workingDir}\n`)
  expect(launch({ argv: ['echo', 'reached'], workingDir: '/dev/null/x' })).toMatchObject({ status: 1, stdout: '', marks: 'e' })
})

test('marks how far it came, and tells a command that is not there or cannot be executed', () => {
  expect(launch({ argv: ['/no/such'] })).toMatchObject({ status: 127, marks: 'ex' })
  expect(launch({ argv: ['/etc/passwd'] })).toMatchObject({ status: 126, marks: 'ex' })
  expect(launch({ argv: ['a=b'] })).toMatchObject({ status: 127, marks: 'ex' })
})

test.skipIf(process.getuid?.() !== 0)('takes the user, and refuses one that is not there before the command', () => {
  expect(launch({ argv: ['sh', '-c', 'id -u; id -g; id -G'], user: '4711:4712', workingDir: '/' }).stdout).toBe('4711\n4712\n4712\n')
  expect(launch({ argv: ['sh', '-c', 'id -u; id -g'], user: '4711', workingDir: '/' }).stdout).toBe('4711\n4711\n')
  expect(launch({ argv: ['true'], user: 'nobody-of-that-name', workingDir: '/' })).toMatchObject({ status: 1, marks: 'e' })
})

test('holds more than one argument may be long', () => {
  const env = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`V${index}`, 'x'.repeat(60_000)]))
  expect(launch({ argv: ['sh', '-c', 'echo ${#V19}'], env: { ...base.env, ...env } }).stdout).toBe('60000\n')
})
