import { z } from 'zod'
import { labelsBody } from '../labels-body.ts'
import { nameText } from '../names-on-the-wire.ts'
import { COMPONENT_NAMES } from './component-names.ts'
import { CredentialsBody, DRIVE_FIELDS } from './drive-fields.ts'
import { DRIVE_ACCESS, type DriveKind } from './drive.ts'

const access = z
  .enum(DRIVE_ACCESS)
  .optional()
  .meta({
    description:
      'The most that a mount or a request may do: `ro` reads, `create` adds objects and changes none, `rw` everything. If it is ' +
      'left out: `ro` for buckets and `http`, else `rw`.',
  })
const labels = labelsBody().optional()
const name = nameText().meta({ description: 'Name of the drive, unique in the project.', examples: ['datasets'] })

type Fields<K extends DriveKind> = (typeof DRIVE_FIELDS)[K]

const newDrive = <K extends DriveKind>(kind: K) =>
  z
    .strictObject({ name, kind: z.literal(kind), ...(DRIVE_FIELDS[kind] as Fields<K>), access, labels })
    .meta({ id: `New${COMPONENT_NAMES[kind]}Drive`, description: `A new drive of kind \`${kind}\`.` })

const drive = <K extends DriveKind>(kind: K) =>
  z
    .strictObject({ kind: z.literal(kind), ...(DRIVE_FIELDS[kind] as Fields<K>), access, labels })
    .meta({ id: `${COMPONENT_NAMES[kind]}DriveChange`, description: `A drive of kind \`${kind}\` as it is to be.` })

const source = <K extends DriveKind>(kind: K) =>
  z
    .strictObject({ kind: z.literal(kind), ...(DRIVE_FIELDS[kind] as Fields<K>) })
    .meta({ id: `${COMPONENT_NAMES[kind]}SourceBody`, description: `Storage of kind \`${kind}\` that is not registered.` })

/** A drive with its source in fields, told apart by `kind`. */
export const NewDriveBody = z
  .discriminatedUnion('kind', [
    newDrive('managed'),
    newDrive('s3'),
    newDrive('gcs'),
    newDrive('azure_blob'),
    newDrive('nfs'),
    newDrive('efs'),
    newDrive('s3files'),
    newDrive('fsx_lustre'),
    newDrive('volume'),
    newDrive('pvc'),
    newDrive('docker_volume'),
    newDrive('host_path'),
    newDrive('http'),
    newDrive('scratch'),
  ])
  .meta({ id: 'NewDrive', description: 'A drive to register, told apart by `kind`.', examples: [{ name: 'datasets', kind: 'managed' }] })
export type NewDriveBody = z.infer<typeof NewDriveBody>

/** A drive with its source in one text. */
export const NewDriveByUrlBody = z
  .strictObject({
    name,
    source: z
      .string()
      .max(2048)
      .meta({
        description:
          'Where it is: `s3://bucket/prefix/`, `gs://…`, `az://account/container/prefix/`, `nfs://server/export`, `efs://fs-…`, ' +
          '`lit://name` (managed) or `https://…#sha256=…`.',
        examples: ['s3://datasets/imagenet/'],
      }),
    credentials: CredentialsBody.optional(),
    access,
    labels,
  })
  .meta({ id: 'NewDriveByUrl', description: 'A drive to register, with its source in one text; stored as if its fields had been given.' })
export type NewDriveByUrlBody = z.infer<typeof NewDriveByUrlBody>

/** What a drive is to be from now on: everything but its name. */
export const DriveChangeBody = z
  .discriminatedUnion('kind', [
    drive('managed'),
    drive('s3'),
    drive('gcs'),
    drive('azure_blob'),
    drive('nfs'),
    drive('efs'),
    drive('s3files'),
    drive('fsx_lustre'),
    drive('volume'),
    drive('pvc'),
    drive('docker_volume'),
    drive('host_path'),
    drive('http'),
    drive('scratch'),
  ])
  .meta({ id: 'DriveChange', description: 'A drive as it is to be, told apart by `kind`, which cannot change.' })
export type DriveChangeBody = z.infer<typeof DriveChangeBody>

/** Storage that is named where it is used and not registered. */
export const SourceBody = z
  .discriminatedUnion('kind', [
    source('managed'),
    source('s3'),
    source('gcs'),
    source('azure_blob'),
    source('nfs'),
    source('efs'),
    source('s3files'),
    source('fsx_lustre'),
    source('volume'),
    source('pvc'),
    source('docker_volume'),
    source('host_path'),
    source('http'),
    source('scratch'),
  ])
  .meta({ id: 'SourceBody', description: 'Storage that is not registered, told apart by `kind`.' })
export type SourceBody = z.infer<typeof SourceBody>
