import { z } from 'zod'
import type { Flaw } from '../fault.ts'
import { pathFlaw } from '../mount-path.ts'
import { flaws } from '../parse-body.ts'
import { REQUEST_LIMITS } from '../request-limits.ts'
import { nameText } from '../names-on-the-wire.ts'
import { volumeNameFlaw } from '../volume-name.ts'
import { objectKeyFlaw } from './object-key.ts'

const NoCredentials = z.strictObject({ method: z.literal('none') }).meta({ id: 'NoCredentials', description: 'The bucket is public.' })

const SecretCredentials = z
  .strictObject({ method: z.literal('secret'), secret: nameText().meta({ description: 'Name of a secret: see `POST /v1/secrets`.' }) })
  .meta({ id: 'SecretCredentials', description: 'Keys that were stored as a secret.' })

const AmbientCredentials = z
  .strictObject({ method: z.literal('ambient') })
  .meta({ id: 'AmbientCredentials', description: "The worker's own, where the operator allows it for this drive." })

/** How Berth gets at a bucket. */
export const CredentialsBody = z
  .discriminatedUnion('method', [NoCredentials, SecretCredentials, AmbientCredentials])
  .meta({ id: 'CredentialsBody', description: 'How Berth gets at a bucket, told apart by `method`.' })

const AzureCredentialsBody = z
  .discriminatedUnion('method', [NoCredentials, SecretCredentials])
  .meta({ id: 'AzureCredentialsBody', description: 'How Berth gets at a container of Azure: a secret of type `azure_key` or `azure_sas`.' })

const text = (pattern: RegExp, words: string) => z.string().regex(pattern, words)

const bucket = text(/^[a-z0-9][a-z0-9._-]{1,221}[a-z0-9]$/, 'must be 3 to 223 lower-case letters, digits, ".", "_" or "-"').meta({
  description: 'Name of the bucket.',
  examples: ['datasets'],
})

const prefix = z
  .string()
  .superRefine(flaws(prefixFlaw))
  .optional()
  .meta({ description: 'What all of its keys begin with, ending in `/`; the whole bucket if it is left out.', examples: ['imagenet/'] })

const endpoint = z
  .string()
  .superRefine(flaws(endpointFlaw))
  .nullish()
  .meta({ description: 'Address of a compatible server; the provider itself if it is left out.', examples: ['https://s3.example.org'] })

const credentials = CredentialsBody.meta({ description: 'Needed; for a public bucket say `{"method": "none"}`.' })

const region = text(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 lower-case letters, digits or "-"')
const directory = z.string().superRefine(flaws(pathFlaw))
const volume = z.string().superRefine(flaws(volumeNameFlaw))
const claimName = text(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a DNS subdomain name, such as "datasets"')
const fileSystemId = text(/^fs-[0-9a-f]{8,40}$/, 'must be an id such as "fs-0123456789abcdef0"')
const accessPointId = text(/^fsap-[0-9a-f]{8,40}$/, 'must be an id such as "fsap-0123456789abcdef0"')
const arn = text(/^arn:[a-z0-9-]+:[a-z0-9-]+:[a-z0-9-]*:\d{0,12}:[\w/:.-]{1,512}$/, 'must be an ARN')
const hostName = text(/^(?!-)[a-zA-Z0-9.-]{1,253}$/, 'must be a host name or an IPv4 address')
const count = (description: string) => z.int().min(1).max(Number.MAX_SAFE_INTEGER).nullish().meta({ description })
const rootDirectory = directory.optional().meta({ description: 'Directory of it that is mounted; `/` if it is left out.' })

/** What says where a drive of each kind is, as a client writes it. */
export const DRIVE_FIELDS = {
  managed: {
    ownership: z
      .enum(['flat', 'component'])
      .optional()
      .meta({
        description:
          '`flat` (taken if it is left out): one tree. `component`: each producer writes into a directory of its own, so that ' +
          'none overwrites another.',
      }),
    maxBytes: count('Quota in bytes; none if it is left out or null.'),
    maxObjects: count('Quota of objects; none if it is left out or null.'),
  },
  s3: {
    bucket,
    prefix,
    endpoint,
    region: region.nullish().meta({ description: 'Region of the bucket, such as `eu-central-1`; `us-east-1` if it is left out.' }),
    pathStyle: z
      .boolean()
      .optional()
      .meta({ description: 'Whether the bucket stands in the path and not in the host name; true with an `endpoint` if it is left out.' }),
    credentials,
  },
  gcs: { bucket, prefix, endpoint, credentials },
  azure_blob: {
    account: text(/^[a-z0-9]{3,24}$/, 'must be 3 to 24 lower-case letters or digits'),
    container: text(/^[a-z0-9][a-z0-9-]{2,62}$/, 'must be 3 to 63 lower-case letters, digits or "-"'),
    prefix,
    endpoint,
    credentials: AzureCredentialsBody.meta({ description: 'Needed; for a public container say `{"method": "none"}`.' }),
  },
  nfs: {
    server: hostName.meta({ examples: ['files.example.org'] }),
    export: directory.meta({ description: 'Path that the server exports.' }),
  },
  efs: { fileSystemId, accessPointId: accessPointId.nullish(), rootDirectory, region: region.nullish() },
  s3files: { fileSystemArn: arn, accessPointArn: arn.nullish(), rootDirectory },
  fsx_lustre: { fileSystemId, dnsName: hostName, mountName: text(/^[a-z0-9]{1,32}$/i, 'must be 1 to 32 letters or digits') },
  volume: {
    volume: volume.optional().meta({ description: "Name of the volume; the drive's own if it is left out." }),
    bindings: z
      .strictObject({
        docker: z.strictObject({ volume }).meta({ id: 'DockerBinding', description: 'What a volume is on Docker.' }).nullish(),
        kubernetes: z
          .strictObject({ claimName })
          .meta({ id: 'KubernetesBinding', description: 'What a volume is on Kubernetes.' })
          .nullish(),
        aws_batch: z
          .strictObject({ fileSystemId, accessPointId: accessPointId.nullish(), rootDirectory })
          .meta({ id: 'AwsBatchBinding', description: 'What a volume is on AWS Batch.' })
          .nullish(),
      })
      .optional()
      .meta({
        id: 'VolumeBindingsBody',
        description: 'What it is on each kind of scheduler. Without one its name is used where that can be.',
      }),
  },
  pvc: { claimName },
  docker_volume: { volume },
  host_path: {
    hostPath: directory.meta({ description: 'Absolute path on the machines of the scheduler, which its operator must allow.' }),
  },
  http: {
    files: z
      .array(
        z
          .strictObject({
            url: z.string().superRefine(flaws(endpointFlaw)),
            path: z
              .string()
              .superRefine(flaws(objectKeyFlaw))
              .optional()
              .meta({ description: 'Where it appears; the last part of the URL if it is left out.' }),
            sha256: text(/^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits'),
          })
          .meta({ id: 'HttpFileBody', description: 'A file by its URL and digest.' }),
      )
      .min(1)
      .max(10_000),
  },
  scratch: {
    medium: z.enum(['disk', 'memory']).optional().meta({ description: '`disk` if it is left out.' }),
    sizeMiB: z.int().min(1).max(REQUEST_LIMITS.memoryMiB).nullish().meta({ description: 'Upper bound in MiB.' }),
  },
} as const

function prefixFlaw(given: string): Flaw | null {
  if (given === '') return null
  if (!given.endsWith('/')) {
    const detail = `"${given.slice(0, 80)}" must end in /: a drive is a directory of the bucket; name one object by the subPath of a mount`
    return { code: 'requires_prefix', detail }
  }
  return objectKeyFlaw(given.slice(0, -1))
}

/** No name and no password: those would be shown. */
function endpointFlaw(given: string): Flaw | null {
  const url = URL.canParse(given) ? new URL(given) : null
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isPlain ? null : { code: 'bad_url', detail: 'must be an http or https URL without a user name or password' }
}
