import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDrive, getDrive } from '../../../src/services/drives/drives.ts'
import { deleteDrive, sweepRemovedDrives } from '../../../src/services/drives/delete-drive.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { requirePostgres } from '../../support/requirements.ts'

describe.skipIf(requirePostgres().missing)('a managed drive that is deleted', () => {
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({})
  })
  afterAll(() => berth.stop())

  const filled = async (name: string) => {
    const source = { kind: 'managed', ownership: 'flat', maxBytes: null, maxObjects: null } as const
    const drive = await createDrive(berth.deps, 'default', { name, source, access: 'rw', credentials: null, labels: {} })
    await mkdir(join(berth.drives, drive.id, 'data'), { recursive: true })
    await writeFile(join(berth.drives, drive.id, 'data', 'f'), 'x')
    return drive
  }
  const removals = async () => (await berth.database.pool.query<{ id: string }>('SELECT id FROM drive_removal')).rows

  it('leaves no bytes and no note behind', async () => {
    const { id } = await filled('gone')
    await deleteDrive(berth.deps, 'default', { from: await getDrive(berth.deps, { project: 'default', name: 'gone' }), withObjects: true })
    expect(await readdir(berth.drives)).not.toContain(id)
    expect(await removals()).toEqual([])
  })

  it('leaves none either when whoever deleted it has died half-way', async () => {
    const { id } = await filled('half')
    const { id: other } = await filled('other')
    await berth.database.pool.query("INSERT INTO drive_removal (id, created_at) VALUES ($1, now() - interval '2 minutes')", [id])
    await sweepRemovedDrives(berth.deps)
    expect(await readdir(berth.drives)).toEqual([other])
    expect(await removals()).toEqual([])
  })

  it('is not deleted when it has changed since it was read', async () => {
    await filled('changed')
    const from = { ...(await getDrive(berth.deps, { project: 'default', name: 'changed' })), version: 7 }
    await expect(deleteDrive(berth.deps, 'default', { from, withObjects: true })).rejects.toMatchObject({ code: 'precondition_failed' })
    expect(await removals()).toEqual([])
  })
})
