import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryStore } from '../../../src/stores/directory/directory-store.ts'
import { driveFolders } from '../../../src/stores/directory/drive-folders.ts'
import { objectStoreContract } from './object-store-contract.ts'
import { everyKey, get, NEVER, put } from './store-under-test.ts'

objectStoreContract('a directory', async () => {
  const root = await mkdtemp(join(tmpdir(), 'berth-store-'))
  const open = () => directoryStore(driveFolders(root, 'drv'))
  return { store: open(), again: open, stop: () => rm(root, { recursive: true }) }
})

describe('a directory in which jobs do what they like', () => {
  let root: string
  const folders = () => driveFolders(root, 'drv')
  const data = (...parts: string[]): string => join(folders().data, ...parts)
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'berth-store-'))
    await mkdir(data('deep'), { recursive: true })
    await mkdir(join(root, 'outside'))
    await writeFile(join(root, 'outside', 'secret'), 'secret')
  })
  afterAll(() => rm(root, { recursive: true }))

  it('never leads out by a link, to a file or to a directory', async () => {
    const store = directoryStore(folders())
    await symlink(join(root, 'outside', 'secret'), data('link'))
    await symlink(join(root, 'outside'), data('way'))
    expect(await store.head('link', NEVER)).toBeNull()
    expect(await store.head('way/secret', NEVER)).toBeNull()
    await expect(store.read('way/secret', { signal: NEVER })).rejects.toMatchObject({ kind: 'not_found' })
    await expect(put(store, 'way/mine', 'x')).rejects.toMatchObject({ kind: 'conflict' })
    expect(await store.remove('way/secret', { signal: NEVER })).toBe(false)
    expect(await everyKey(store)).toEqual([])
    await put(store, 'link', 'an object now')
    expect(await readFile(join(root, 'outside', 'secret'), 'utf8')).toBe('secret')
  })

  it('is not held up by a fifo, and shows no file whose name is no key', async () => {
    const store = directoryStore(folders())
    execFileSync('mkfifo', [data('fifo')])
    await writeFile(data('back\\slash'), 'x')
    expect(await store.head('fifo', NEVER)).toBeNull()
    expect(await everyKey(store)).toEqual(['link'])
  })

  it('refuses an object below an object, and one in the place of a directory', async () => {
    const store = directoryStore(folders())
    await put(store, 'f', 'x')
    await expect(put(store, 'f/x', 'y')).rejects.toMatchObject({ kind: 'conflict' })
    await put(store, 'd/x', 'y')
    await expect(put(store, 'd', 'x')).rejects.toMatchObject({ kind: 'conflict' })
    const batch = store.batch('across')
    await batch.write('new', Readable.from([Buffer.from('n')]), { signal: NEVER })
    await batch.write('f/x', Readable.from([Buffer.from('n')]), { signal: NEVER })
    await expect(batch.check({ onConflict: 'replace', signal: NEVER })).rejects.toMatchObject({ kind: 'conflict' })
    expect(await store.head('new', NEVER)).toBeNull()
  })

  it('copies objects to files beside it, and none that is not as it was, or that a link has taken the place of', async () => {
    const store = directoryStore(folders())
    const objects = [await put(store, 'out/a', 'a'), await put(store, 'out/deep/b', 'bb'), await put(store, 'out/c', '')]
    const target = await mkdtemp(join(tmpdir(), 'berth-copies-'))
    const sizes: number[] = []
    const options = { mode: 0o640, signal: NEVER, onCopied: (size: number) => void sizes.push(size) }
    const copies = objects.map((object) => ({ ...object, to: join(target, object.key.replaceAll('/', '-')) }))
    await store.copyOut?.(copies, options)
    expect(await Promise.all(copies.map(({ to }) => readFile(to, 'utf8')))).toEqual(['a', 'bb', ''])
    expect((await stat(join(target, 'out-a'))).mode & 0o777).toBe(0o640)
    expect(new Set(sizes)).toEqual(new Set([0, 1, 2]))
    await writeFile(data('out/a'), 'A')
    await expect(store.copyOut?.(copies.slice(0, 1), options)).rejects.toMatchObject({ kind: 'precondition_failed' })
    await rm(data('out/c'))
    await symlink('/etc/passwd', data('out/c'))
    await expect(store.copyOut?.(copies.slice(2), options)).rejects.toMatchObject({ kind: 'precondition_failed' })
    await rm(target, { recursive: true })
  })

  it('sees what jobs write, and tells it by another tag', async () => {
    const store = directoryStore(folders())
    const { etag } = await put(store, 'live', 'one', { contentType: 'text/plain' })
    await writeFile(data('live'), 'from a job')
    const now = await store.head('live', NEVER)
    expect(now?.etag).not.toBe(etag)
    expect(now).toMatchObject({ size: 10, sha256: null })
    expect((await get(store, 'live')).toString()).toBe('from a job')
  })

  it('stays inside while a directory is exchanged for a link ten thousand times', { timeout: 120_000 }, async () => {
    const store = directoryStore(folders())
    await put(store, 'swap/file', 'inside')
    let escapes = 0
    let swaps = 0
    let stop = false
    const swapping = (async () => {
      while (!stop) {
        await rename(data('swap'), data('kept'))
        await symlink(join(root, 'outside'), data('swap'))
        await rm(data('swap'))
        await rename(data('kept'), data('swap'))
        swaps += 1
      }
    })()
    for (let round = 0; round < 10_000; round += 1) {
      const name = round % 2 ? 'secret' : 'file'
      const text = await get(store, `swap/${name}`).then(String, () => '')
      if (text === 'secret') escapes += 1
    }
    await put(store, 'swap/written', 'x').catch(() => undefined)
    stop = true
    await swapping
    expect(swaps).toBeGreaterThan(100)
    expect(escapes).toBe(0)
    expect(await readFile(join(root, 'outside', 'written'), 'utf8').catch(() => 'nothing')).toBe('nothing')
  })

  it('leaves no upload, lock or batch behind', async () => {
    const listed = execFileSync('find', [folders().uploads, folders().locks, '-mindepth', '1']).toString()
    expect(listed).toBe('')
  })
})
