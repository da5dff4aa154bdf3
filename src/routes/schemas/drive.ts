import { z } from 'zod'
import { DriveChangeBody, NewDriveBody, NewDriveByUrlBody } from '../../domain/drives/drive-body.ts'
import { DRIVE_ACCESS, DRIVE_KINDS } from '../../domain/drives/drive.ts'
import { driveSources, type SourceSchema } from './drive-source.ts'
import { pageOf } from './page.ts'
import { pageQuery } from './parameters.ts'
import { time } from './time.ts'

export const newDrive = z
  .union([NewDriveBody, NewDriveByUrlBody])
  .meta({
    id: 'NewDriveRequest',
    description: 'A drive with the fields of its kind, or (when `kind` is left out) with its source in one text.',
  })

export const driveChange = DriveChangeBody

const check = z
  .object({
    ok: z.boolean(),
    at: time,
    list: z.boolean(),
    read: z.boolean().nullable().meta({ description: 'null where there was nothing to read.' }),
    write: z.boolean().nullable().meta({ description: 'null where nothing may be written.' }),
    objects: z.int(),
    largestBytes: z.int(),
    complete: z.boolean().meta({ description: 'Whether all objects were counted.' }),
    error: z.object({ code: z.string(), detail: z.string() }).nullable().meta({ id: 'DriveCheckError', description: 'What went wrong.' }),
  })
  .meta({ id: 'DriveCheck', description: 'What a worker found when it last tried the drive.' })

const common = {
  id: z.string(),
  name: z.string(),
  version: z.int().meta({ description: 'Grows with every change.' }),
  access: z.enum(DRIVE_ACCESS).meta({ id: 'DriveAccess', description: 'The most that may be done: read, add objects, or everything.' }),
  credentials: z
    .object({ method: z.string(), secret: z.string().optional() })
    .nullable()
    .meta({ id: 'DriveCredentials', description: 'How Berth gets at the bucket; null where nothing is needed.' }),
  labels: z.record(z.string(), z.string()),
  usage: z
    .object({ bytes: z.int(), objects: z.int() })
    .nullable()
    .meta({ id: 'DriveUsage', description: 'What a managed drive holds; null for other kinds.' }),
  checked: check.nullable(),
  createdAt: time,
  updatedAt: time,
}

const driveOf = (source: SourceSchema, id: string) =>
  source.extend(common).meta({ id, description: `A drive of kind \`${source.shape.kind.value}\`.` })

/** A registered drive, told apart by `kind`. */
export const drive = z
  .discriminatedUnion(
    'kind',
    driveSources.map(([name, source]) => driveOf(source, `${name}Drive`)) as unknown as readonly [ReturnType<typeof driveOf>],
  )
  .meta({ id: 'Drive', description: 'Storage that the project has registered, told apart by `kind`.' })

export const drivePage = pageOf(drive, 'DrivePage', 'Drives, by name.')

export const driveParams = z.strictObject({ name: z.string().meta({ description: 'Name of the drive.', examples: ['datasets'] }) })

export const driveListQuery = pageQuery.extend({
  kind: z.enum(DRIVE_KINDS).optional().meta({ description: 'Only drives of this kind.' }),
  label: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(z.string().regex(/^[^=]+=/, 'must be key=value')).max(64))
    .optional()
    .meta({ description: 'Only drives with this label, as `key=value`. May be repeated; all must fit.' }),
})

export const deleteDriveQuery = z.strictObject({
  objects: z
    .enum(['delete'])
    .optional()
    .meta({ description: '`delete`: also what a managed drive holds; otherwise one that holds anything stays.' }),
})

const cell = z
  .object({
    mode: z.string(),
    access: z.string(),
    via: z.string().nullable().meta({ description: 'How it would be made; null if it cannot be.' }),
    reasons: z.array(z.string()).meta({ description: 'Every reason against it.' }),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'CompatibilityCell', description: 'What one mode comes to on one scheduler.' })

export const compatibility = z
  .object({
    drive: z.string(),
    schedulers: z.array(z.object({ name: z.string(), kind: z.string(), modes: z.array(cell) }).meta({ id: 'CompatibilityRow' })),
  })
  .meta({ id: 'Compatibility', description: 'How a drive can be mounted on each configured scheduler.' })
