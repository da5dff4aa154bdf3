import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { everyKey, get, NEVER, put, sha256, type StoreUnderTest } from './store-under-test.ts'

/** What every store of objects does, in sentences. */
export function objectStoreContract(name: string, create: () => Promise<StoreUnderTest>): void {
  describe(`in ${name}`, () => {
    let tested: StoreUnderTest
    let store: ObjectStore
    beforeAll(async () => {
      tested = await create()
      store = tested.store
    })
    afterAll(() => tested.stop())

    it('gives back what was put, with its size, type and a strong tag', async () => {
      const bytes = randomBytes(100_000)
      const info = await put(store, 'a/b c/ü.bin', bytes, { contentType: 'image/png' })
      expect(info).toMatchObject({ key: 'a/b c/ü.bin', size: 100_000, sha256: sha256(bytes), contentType: 'image/png' })
      expect(info.etag).toMatch(/^"[^"]+"$/)
      expect(await get(tested.again(), 'a/b c/ü.bin')).toEqual(bytes)
      expect(await store.head('a/b c/ü.bin', NEVER)).toMatchObject({ size: 100_000, etag: info.etag, contentType: 'image/png' })
    })

    it('takes empty objects, and objects of many parts', { timeout: 60_000 }, async () => {
      await put(store, 'sizes/empty', '')
      expect((await get(store, 'sizes/empty')).byteLength).toBe(0)
      const chunk = randomBytes(1024 * 1024)
      const large = Array.from({ length: 40 }, () => chunk)
      const info = await store.write('sizes/large', Readable.from(large), { signal: NEVER, sha256: sha256(Buffer.concat(large)) })
      expect(info.size).toBe(40 * 1024 * 1024)
      expect(sha256(await get(store, 'sizes/large'))).toBe(sha256(Buffer.concat(large)))
    })

    it('gives ranges of bytes, both ends included', async () => {
      await put(store, 'range', '0123456789')
      expect((await get(store, 'range', { start: 2, end: 4 })).toString()).toBe('234')
      expect((await get(store, 'range', { start: 9, end: 9 })).toString()).toBe('9')
    })

    it('refuses to read another version than was meant', async () => {
      const first = await put(store, 'versions', 'one')
      await put(store, 'versions', 'two!')
      await expect(store.read('versions', { ifMatch: first.etag, signal: NEVER })).rejects.toMatchObject({ kind: 'precondition_failed' })
    })

    it('knows no object that was not put', async () => {
      expect(await store.head('nothing/here', NEVER)).toBeNull()
      await expect(store.read('nothing/here', { signal: NEVER })).rejects.toMatchObject({ kind: 'not_found' })
      expect(await store.remove('nothing/here', { signal: NEVER })).toBe(false)
    })

    it('writes only what is new, or is still as it was, if asked', async () => {
      const first = await put(store, 'if', 'one', { condition: { kind: 'never' } })
      await expect(put(store, 'if', 'two', { condition: { kind: 'never' } })).rejects.toMatchObject({ kind: 'precondition_failed' })
      const second = await put(store, 'if', 'second', { condition: { kind: 'match', etag: first.etag } })
      await expect(put(store, 'if', 'three', { condition: { kind: 'match', etag: first.etag } })).rejects.toMatchObject({
        kind: 'precondition_failed',
      })
      expect((await get(store, 'if')).toString()).toBe('second')
      expect(second.etag).not.toBe(first.etag)
    })

    it('lets one of many writers of a new object win', async () => {
      const ends = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) =>
          put(index % 2 ? store : tested.again(), 'race', `writer ${index}`, { condition: { kind: 'never' } }),
        ),
      )
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('shows nothing of bytes that are not what their digest says', async () => {
      await expect(put(store, 'digest', 'text', { sha256: sha256('other') })).rejects.toMatchObject({ kind: 'digest_mismatch' })
      expect(await store.head('digest', NEVER)).toBeNull()
      await put(store, 'digest', 'text', { sha256: sha256('text') })
      expect((await get(store, 'digest')).toString()).toBe('text')
    })

    it('shows nothing of an upload that breaks off, or is larger than allowed', async () => {
      const broken = Readable.from(
        (async function* () {
          yield randomBytes(1000)
          throw new Error('the client is gone')
        })(),
      )
      await expect(store.write('broken', broken, { signal: NEVER })).rejects.toMatchObject({ kind: 'unavailable' })
      await expect(put(store, 'broken', 'too long', { maxBytes: 3 })).rejects.toMatchObject({ kind: 'too_large' })
      expect(await store.head('broken', NEVER)).toBeNull()
    })

    it('lists in the order of bytes, page by page, all below a prefix or one level of it', async () => {
      for (const key of ['l/b/2', 'l/a', 'l/b/1', 'l/b-', 'l/c', 'l/ä', 'l/b/x/y']) await put(store, key, key)
      expect(await everyKey(store, 'l/')).toEqual(['l/a', 'l/b-', 'l/b/1', 'l/b/2', 'l/b/x/y', 'l/c', 'l/ä'])
      const page = await store.list({ prefix: 'l/', delimiter: '/', after: null, limit: 100, signal: NEVER })
      expect([page.objects.map(({ key }) => key), page.prefixes]).toEqual([['l/a', 'l/b-', 'l/c', 'l/ä'], ['l/b/']])
      expect(await everyKey(store, 'l/b')).toEqual(['l/b-', 'l/b/1', 'l/b/2', 'l/b/x/y'])
      expect(await everyKey(store, 'nothing/')).toEqual([])
    })

    it('goes on with a level after a directory, without giving it twice', async () => {
      const seen: string[] = []
      let after: string | null = null
      do {
        const page = await store.list({ prefix: 'l/', delimiter: '/', after, limit: 1, signal: NEVER })
        seen.push(...page.prefixes, ...page.objects.map(({ key }) => key))
        after = page.next
      } while (after !== null)
      expect(seen).toEqual(['l/a', 'l/b-', 'l/b/', 'l/c', 'l/ä'])
    })

    it('deletes an object, if it is still as it was', async () => {
      const { etag } = await put(store, 'gone', 'x')
      await put(store, 'gone', 'other')
      await expect(store.remove('gone', { ifMatch: etag, signal: NEVER })).rejects.toMatchObject({ kind: 'precondition_failed' })
      expect(await store.remove('gone', { signal: NEVER })).toBe(true)
      expect(await store.head('gone', NEVER)).toBeNull()
    })

    it('makes a batch visible as a whole, and goes on with it in another process', async () => {
      const batch = store.batch('batch-1')
      for (const key of ['batch/a', 'batch/b/c']) await batch.write(key, Readable.from([Buffer.from(key)]), { signal: NEVER })
      expect(await everyKey(store, 'batch/')).toEqual([])
      expect((await tested.again().batch('batch-1').keys(NEVER)).map(({ key }) => key)).toEqual(['batch/a', 'batch/b/c'])
      await tested.again().batch('batch-1').commit({ onConflict: 'fail', signal: NEVER })
      expect(await everyKey(store, 'batch/')).toEqual(['batch/a', 'batch/b/c'])
      expect(await store.batch('batch-1').keys(NEVER)).toEqual([])
    })

    it('makes a batch visible once, however many are at it', async () => {
      const batch = store.batch('many-hands')
      const keys = Array.from({ length: 40 }, (_, file) => `hands/${String(file).padStart(2, '0')}`)
      for (const key of keys) await batch.write(key, Readable.from([Buffer.from(key)]), { signal: NEVER })
      await Promise.all(
        [batch, store.batch('many-hands'), tested.again().batch('many-hands')].map((hand) =>
          hand.commit({ onConflict: 'replace', signal: NEVER }),
        ),
      )
      expect(await everyKey(store, 'hands/')).toEqual(keys)
      expect((await get(store, 'hands/39')).toString()).toBe('hands/39')
      expect(await batch.keys(NEVER)).toEqual([])
    })

    it.each([
      ['fail', 'old'],
      ['keep', 'old'],
      ['replace', 'new'],
    ] as const)('with %s leaves %s content where a batch meets what is there', async (onConflict, left) => {
      await put(store, `conflict-${onConflict}/x`, 'old')
      const batch = store.batch(`conflict-${onConflict}`)
      for (const key of ['x', 'y'])
        await batch.write(`conflict-${onConflict}/${key}`, Readable.from([Buffer.from('new')]), { signal: NEVER })
      const check = batch.check({ onConflict, signal: NEVER })
      if (onConflict === 'fail')
        await expect(check).rejects.toMatchObject({ kind: 'precondition_failed', message: expect.stringContaining('x') })
      else await check.then(() => batch.commit({ onConflict, signal: NEVER }))
      expect((await get(store, `conflict-${onConflict}/x`)).toString()).toBe(left)
      expect(await everyKey(store, `conflict-${onConflict}/`)).toHaveLength(onConflict === 'fail' ? 1 : 2)
    })

    it('forgets a batch that is abandoned', async () => {
      const batch = store.batch('abandoned')
      await batch.write('abandoned/x', Readable.from([Buffer.from('x')]), { signal: NEVER })
      await batch.abandon(NEVER)
      await store.batch('abandoned').commit({ onConflict: 'replace', signal: NEVER })
      expect(await everyKey(store, 'abandoned/')).toEqual([])
    })
  })
}
