import { snapshotOf, driveOfRow, DRIVE_COLUMNS } from '../drives/drive-row.ts'
import type { ServiceDeps } from '../service-deps.ts'

const PAGE = 1000

/** Counts anew what every managed drive holds: the store is the truth, and jobs write behind the counters. */
export async function recountDrives(deps: ServiceDeps, signal: AbortSignal): Promise<{ name: string; bytes: number; objects: number }[]> {
  const rows = await deps.db.selectFrom('drive').select(DRIVE_COLUMNS).where('kind', '=', 'managed').orderBy('name').execute()
  const counted: { name: string; bytes: number; objects: number }[] = []
  for (const row of rows) {
    const store = deps.stores.open(snapshotOf(driveOfRow(row)), null)
    if (store === null) continue
    let bytes = 0
    let objects = 0
    let after: string | null = null
    do {
      const page = await store.list({ prefix: '', delimiter: null, after, limit: PAGE, signal })
      objects += page.objects.length
      bytes += page.objects.reduce((sum, { size }) => sum + size, 0)
      after = page.next
    } while (after !== null)
    await deps.db.updateTable('drive').set({ used_bytes: bytes, used_objects: objects }).where('id', '=', row.id).execute()
    counted.push({ name: row.name, bytes, objects })
  }
  return counted
}
