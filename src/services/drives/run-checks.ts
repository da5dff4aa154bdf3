import { Readable } from 'node:stream'
import type { Drive } from '../../domain/drives/drive.ts'
import { RESERVED } from '../../domain/drives/object-key.ts'
import { StoreError, type ObjectStore } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { credentialsOf } from './credentials-of.ts'
import { DRIVE_COLUMNS, driveOfRow, snapshotOf } from './drive-row.ts'
import type { DriveCheck } from './drive-view.ts'

const POLL_MS = 5_000
const PAGE = 1000
/** What is counted of a drive: enough to tell a small one from a large one. */
const MOST_OBJECTS = 10_000
const CHECK_MS = 20_000

/** Takes what is to be tried, until told to stop. A check whose worker dies is not repeated: the client asks again. */
export async function runChecks(deps: ServiceDeps, stop: AbortSignal): Promise<void> {
  const bell = deps.signals.listen('check')
  while (!stop.aborted) {
    const taken = await takeCheck(deps).catch(() => null)
    if (taken === null) await bell.next(POLL_MS, stop)
    else await tryDrive(deps, taken, stop).catch((error: unknown) => deps.log.warn({ err: error }, 'a drive was not tried'))
  }
  bell.close()
}

async function takeCheck(deps: ServiceDeps): Promise<string | null> {
  const { rows } = await deps.pool.query<{ drive_id: string }>(
    'DELETE FROM drive_check WHERE id = (SELECT id FROM drive_check ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING drive_id',
  )
  return rows[0]?.drive_id ?? null
}

async function tryDrive(deps: ServiceDeps, driveId: string, stop: AbortSignal): Promise<void> {
  const row = await deps.db
    .selectFrom('drive')
    .select([...DRIVE_COLUMNS, 'project_id'])
    .where('id', '=', driveId)
    .executeTakeFirst()
  if (!row) return
  const checked = await findings(
    deps,
    { drive: driveOfRow(row), project: row.project_id },
    AbortSignal.any([stop, AbortSignal.timeout(CHECK_MS)]),
  )
  await deps.db
    .updateTable('drive')
    .set({ checked: JSON.stringify(checked) })
    .where('id', '=', driveId)
    .execute()
  deps.signals.notify(`drive:${driveId}`)
}

async function findings(
  deps: ServiceDeps,
  { drive, project }: { drive: Drive; project: string },
  signal: AbortSignal,
): Promise<DriveCheck> {
  const found = {
    ok: false,
    at: new Date().toISOString(),
    list: false,
    read: null,
    write: null,
    objects: 0,
    largestBytes: 0,
    complete: false,
    error: null,
  }
  let done: DriveCheck = found
  try {
    const store = deps.stores.open(snapshotOf(drive), await credentialsOf(deps, project, snapshotOf(drive)))
    if (store === null)
      return { ...found, error: { code: 'not_reachable', detail: `a drive of kind ${drive.source.kind} can only be tried by a job` } }
    const counted = await count(store, signal)
    done = { ...found, list: true, ...counted.figures }
    if (counted.first !== null) done = { ...done, read: await readsOne(store, counted.first, signal) }
    if (drive.access !== 'ro') done = { ...done, write: await writesOne(store, { mayRemove: drive.access === 'rw' }, signal) }
    return { ...done, ok: true }
  } catch (error) {
    const kind = error instanceof StoreError ? error.kind : 'unavailable'
    return { ...done, error: { code: kind, detail: error instanceof Error ? error.message : String(error) } }
  }
}

async function count(store: ObjectStore, signal: AbortSignal) {
  let objects = 0
  let largestBytes = 0
  let first: string | null = null
  let after: string | null = null
  do {
    const page = await store.list({ prefix: '', delimiter: null, after, limit: PAGE, signal })
    first ??= page.objects.find(({ size }) => size > 0)?.key ?? null
    objects += page.objects.length
    for (const { size } of page.objects) largestBytes = Math.max(largestBytes, size)
    after = page.next
  } while (after !== null && objects < MOST_OBJECTS)
  return { first, figures: { objects, largestBytes, complete: after === null } }
}

async function readsOne(store: ObjectStore, key: string, signal: AbortSignal): Promise<true> {
  const body = await store.read(key, { range: { start: 0, end: 0 }, signal })
  for await (const _ of body);
  return true
}

async function writesOne(store: ObjectStore, { mayRemove }: { mayRemove: boolean }, signal: AbortSignal): Promise<true> {
  const key = `${RESERVED}/check`
  await store.write(key, Readable.from([Buffer.from('berth')]), { signal })
  if (mayRemove) await store.remove(key, { signal })
  return true
}
