import { fanOut } from './fan-out.ts'

/** Deliveries of an event of a drive that a statement has just numbered: `d` is its row. */
export const driveDeliveries = ({ type, data }: { readonly type: string; readonly data: string }): string =>
  fanOut({
    from: 'FROM d JOIN webhook w ON w.project_id = d.project_id',
    kind: 'drive',
    type,
    subject: 'd.id',
    seq: 'd.seq',
    at: 'now()',
    labels: 'd.labels',
    named: 'false',
    data: `jsonb_build_object('driveId', d.id, 'drive', d.name, 'sequence', d.seq) || ${data}`,
  })
