import { z } from 'zod'
import { COMPONENT_NAMES } from '../../domain/drives/component-names.ts'
import type { DriveKind, DriveSource } from '../../domain/drives/drive.ts'

const text = z.string()
const maybe = z.string().nullable()

/** The canonical source of each kind, as the API shows it. Open for fields to come. */
const FIELDS: Readonly<Record<DriveKind, z.ZodRawShape>> = {
  managed: {
    ownership: z.enum(['flat', 'component']).meta({ description: 'Whether producers share one tree, or have a directory each.' }),
    maxBytes: z.int().nullable(),
    maxObjects: z.int().nullable(),
  },
  s3: { bucket: text, prefix: text, endpoint: maybe, region: maybe, pathStyle: z.boolean() },
  gcs: { bucket: text, prefix: text, endpoint: maybe },
  azure_blob: { account: text, container: text, prefix: text, endpoint: maybe },
  nfs: { server: text, export: text },
  efs: { fileSystemId: text, accessPointId: maybe, rootDirectory: text, region: maybe },
  s3files: { fileSystemArn: text, accessPointArn: maybe, rootDirectory: text },
  fsx_lustre: { fileSystemId: text, dnsName: text, mountName: text },
  volume: {
    volume: text,
    bindings: z
      .object({
        docker: z.object({ volume: text }).nullable(),
        kubernetes: z.object({ claimName: text }).nullable(),
        aws_batch: z.object({ fileSystemId: text, accessPointId: maybe, rootDirectory: text }).nullable(),
      })
      .meta({ id: 'VolumeBindings', description: 'What the volume is on each kind of scheduler; null where nothing was said.' }),
  },
  pvc: { claimName: text },
  docker_volume: { volume: text },
  host_path: { hostPath: text },
  http: { files: z.array(z.object({ url: text, path: text, sha256: text }).meta({ id: 'HttpFile', description: 'A file by its URL.' })) },
  scratch: { medium: z.enum(['disk', 'memory']), sizeMiB: z.int().nullable() },
}

const sourceOf = (kind: DriveKind) => z.object({ kind: z.literal(kind), ...FIELDS[kind] })

export type SourceSchema = ReturnType<typeof sourceOf>

/** Name for components, and schema, of each kind of source. */
export const driveSources: readonly (readonly [string, SourceSchema])[] = (Object.keys(FIELDS) as DriveKind[]).map((kind) => [
  COMPONENT_NAMES[kind],
  sourceOf(kind),
])

/** A source as it is stored, told apart by `kind`. */
export const driveSource: z.ZodType<DriveSource> = z
  .discriminatedUnion(
    'kind',
    driveSources.map(([name, source]) =>
      source.meta({ id: `${name}Source`, description: `Storage of kind \`${source.shape.kind.value}\`.` }),
    ) as unknown as readonly [SourceSchema],
  )
  .meta({ id: 'DriveSource', description: 'What a drive is and where, told apart by `kind`.' }) as unknown as z.ZodType<DriveSource>
