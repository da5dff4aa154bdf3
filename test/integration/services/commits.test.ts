import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { createDrive, getDrive } from '../../../src/services/drives/drives.ts'
import { commitBatch } from '../../../src/services/objects/commit-batch.ts'
import { listObjects } from '../../../src/services/objects/list-objects.ts'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { requirePostgres } from '../../support/requirements.ts'

const signal = new AbortController().signal
const FILES = 400

describe.skipIf(requirePostgres().missing)('a commit of many objects', () => {
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({})
  })
  afterAll(() => berth.stop())

  async function filled(name: string): Promise<{ drive: DriveSnapshot; store: ObjectStore; commit: () => Promise<unknown> }> {
    const source = { kind: 'managed', ownership: 'flat', maxBytes: null, maxObjects: null } as const
    const { id, version } = await createDrive(berth.deps, 'default', { name, source, access: 'rw', credentials: null, labels: {} })
    const drive = { id, name, version, access: 'rw', source, credentials: null } as const
    const store = berth.deps.stores.open(drive, null)!
    for (let file = 0; file < FILES; file += 1) await store.batch(name).write(`f/${file}`, Readable.from([Buffer.from('x')]), { signal })
    return { drive, store, commit: () => commitBatch(berth.deps, { drive, store, batchId: name, onConflict: 'replace', signal }) }
  }
  const count = async (name: string): Promise<number> => {
    const list = { prefix: '', recursive: true, component: undefined, limit: 1000, cursor: undefined, signal }
    return (await listObjects(berth.deps, { project: 'default', name }, list)).items.length
  }
  const told = async (drive: DriveSnapshot): Promise<unknown[]> =>
    (await berth.database.pool.query("SELECT seq, data->>'count' AS count FROM drive_event WHERE drive_id = $1 ORDER BY seq", [drive.id]))
      .rows

  it('is seen whole or not at all by those who look meanwhile, and is counted once', async () => {
    const { drive, commit } = await filled('seen')
    const seen = new Set<number>()
    let done = false
    const looking = Array.from({ length: 4 }, async () => {
      while (!done) seen.add(await count('seen'))
    })
    await commit()
    done = true
    await Promise.all(looking)
    expect([...seen].filter((objects) => objects !== 0 && objects !== FILES)).toEqual([])
    expect(await getDrive(berth.deps, { project: 'default', name: 'seen' })).toMatchObject({ usage: { bytes: FILES, objects: FILES } })
    expect(await told(drive)).toEqual([{ seq: 1, count: String(FILES) }])
  })

  it('that two make at once is made and counted once', async () => {
    const { drive, commit } = await filled('twice')
    await Promise.all([commit(), commit(), commit()])
    expect(await count('twice')).toBe(FILES)
    expect(await getDrive(berth.deps, { project: 'default', name: 'twice' })).toMatchObject({ usage: { bytes: FILES, objects: FILES } })
    expect(await told(drive)).toEqual([{ seq: 1, count: String(FILES) }])
  })

  it('that a crash has interrupted is finished by the first who looks', async () => {
    const { drive } = await filled('left')
    await berth.database.pool.query(
      `INSERT INTO drive_commit (id, drive_id, on_conflict, figures, mover_until)
       VALUES ('left', $1, 'replace', '{"count": 400, "bytes": 400, "keys": [], "addedBytes": 400, "addedObjects": 400}', now())`,
      [drive.id],
    )
    expect(await Promise.all([count('left'), count('left')])).toEqual([FILES, FILES])
    expect(await told(drive)).toEqual([{ seq: 1, count: String(FILES) }])
    expect((await berth.database.pool.query('SELECT FROM drive_commit WHERE done_at IS NULL')).rowCount).toBe(0)
  })
})
