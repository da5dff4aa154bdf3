import { closeSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBindSource } from '../../../../src/schedulers/local/bind-source.ts'

const home = mkdtempSync(join(tmpdir(), 'berth-bind-'))
const root = join(home, 'allowed')
const roots = [{ root, readOnly: false }, { root: join(home, 'ro'), readOnly: true }]

beforeAll(() => {
  for (const folder of ['allowed/a/b', 'ro/x', 'secret']) mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(root, 'a/file'), 'x')
  writeFileSync(join(home, 'secret/key'), 'x')
  symlinkSync(join(home, 'secret'), join(root, 'link'))
})
afterAll(() => rmSync(home, { recursive: true }))

function use<T>(path: string, look: (descriptor: number) => T, access: 'ro' | 'rw' = 'rw'): T {
  const descriptor = openBindSource(path, access, roots)
  try {
    return look(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const opening = (path: string, access: 'ro' | 'rw' = 'rw') => (): number => openBindSource(path, access, roots)

test('opens folders and files below a root, and the root itself', () => {
  expect(use(join(root, 'a'), (descriptor) => readdirSync(`/proc/self/fd/${descriptor}`).sort())).toEqual(['b', 'file'])
  use(root, () => {})
  use(join(root, 'a/file'), () => {})
})

test('follows no link, neither on the way nor at the end', () => {
  expect(opening(join(root, 'link'))).toThrow('links are not followed')
  expect(opening(join(root, 'link/key'))).toThrow('links are not followed')
})

test('keeps what it opened, even if the path leads elsewhere afterwards', () => {
  use(join(root, 'a/b'), (descriptor) => {
    writeFileSync(join(root, 'a/b/inner'), 'x')
    renameSync(join(root, 'a'), join(root, 'moved'))
    symlinkSync(join(home, 'secret'), join(root, 'a'))
    expect(readdirSync(`/proc/self/fd/${descriptor}`)).toEqual(['inner'])
  })
})

test('refuses what is outside, missing, or only to be read, as a mount that failed', () => {
  expect(opening(join(home, 'secret'))).toThrow('not below a folder')
  expect(opening(`${root}-not`)).toThrow('not below a folder')
  expect(opening(`${root}/../secret`)).toThrow('not below a folder')
  expect(opening(join(root, 'nothing'))).toThrow('it is not there')
  expect(opening(join(home, 'ro/x'))).toThrow('access rw')
  use(join(home, 'ro/x'), () => {}, 'ro')
  expect(opening('/dev/null')).toThrow(expect.objectContaining({ kind: 'rejected', failure: 'mount_failed' }) as Error)
})

test('leaves no descriptor open when it refuses', () => {
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  for (let round = 0; round < 5; round++) expect(opening(join(root, 'moved/b/nothing/at/all'))).toThrow('it is not there')
  expect(open()).toBe(before)
})
