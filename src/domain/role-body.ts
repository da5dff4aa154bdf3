import { z } from 'zod'
import type { Flaw } from './fault.ts'
import { longestExpansion } from './macros.ts'
import { MountBody } from './mount-body.ts'
import { pathFlaw } from './mount-path.ts'
import { parseMountString } from './mount-string.ts'
import { flaws } from './parse-body.ts'
import { nameText } from './names-on-the-wire.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import { roleFlaws } from './role-flaws.ts'

/** Limits of each replica, as a client writes them. */
export const ResourcesBody = z
  .strictObject({
    cpus: z
      .number()
      .min(0.01)
      .max(REQUEST_LIMITS.cpus)
      .nullish()
      .meta({ description: 'Processors; may be a fraction.', examples: [1.5] }),
    memoryMiB: z
      .int()
      .min(6)
      .max(REQUEST_LIMITS.memoryMiB)
      .nullish()
      .meta({ description: 'Memory in MiB.', examples: [512] }),
    shmMiB: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.memoryMiB)
      .nullish()
      .meta({ description: 'Size of /dev/shm in MiB.', examples: [64] }),
    gpus: z.int().min(0).max(REQUEST_LIMITS.gpus).nullish().meta({ description: 'Graphics processors; 0 is the same as none asked for.' }),
    pids: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.pids)
      .nullish()
      .meta({ description: 'Processes and threads.', examples: [1024] }),
  })
  .meta({ id: 'ResourcesBody', description: 'Limits of each replica. One that is left out or null is not limited by Berth.' })

/** A role as a client writes it. Only `command` is needed, and a name if the job has more than one role. */
export const RoleBody = z
  .strictObject({
    name: nameText()
      .optional()
      .meta({ description: 'Name of the role; `main` if it is left out in a job of one role.', examples: ['trainer'] }),
    image: imageText()
      .nullish()
      .meta({ description: 'Container image; needed or refused as the kind of scheduler has it.', examples: ['busybox'] }),
    entrypoint: words()
      .nullish()
      .meta({ description: "Replaces the image's own entrypoint, which is kept if it is left out.", examples: [['sh', '-c']] }),
    command: words().meta({
      description: 'Program and arguments, or the arguments of the entrypoint. Macros such as `${replica}` work.',
      examples: [['ls /data']],
    }),
    replicas: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.replicas)
      .optional()
      .meta({ description: 'How many of it run at once; 1 if it is left out.', examples: [2] }),
    env: z
      .record(z.string().superRefine(flaws(variableNameFlaw)), z.string())
      .superRefine(flaws(environmentFlaws))
      .optional()
      .meta({
        description: 'Environment variables; names that begin with BERTH_ are ours. Macros such as `${replica}` work in values.',
        examples: [{ A: 'b' }],
      }),
    resources: ResourcesBody.optional(),
    workingDir: z
      .string()
      .superRefine(flaws(pathFlaw))
      .nullish()
      .meta({ description: "Absolute path to start in; the image's own if it is left out.", examples: ['/work'] }),
    user: userText()
      .nullish()
      .meta({
        description: "`uid`, `uid:gid` or a name that the image knows; the image's own if it is left out.",
        examples: ['1000:1000'],
      }),
    mountStrings: z
      .array(z.string().max(REQUEST_LIMITS.mountStringLength).superRefine(flaws(mountStringFlaws)))
      .max(REQUEST_LIMITS.mounts)
      .optional()
      .meta({
        description: 'Mounts in the one-string form `type=volume,src=foo2,dst=/tmp[,readonly]`; they come after `mounts`.',
        examples: [['type=volume,src=foo2,dst=/data,readonly']],
      }),
    mounts: z.array(MountBody).max(REQUEST_LIMITS.mounts).optional().meta({ description: 'What the role sees in its file system.' }),
  })
  .superRefine(flaws(roleFlaws))
  .meta({ id: 'RoleBody', description: 'A group of identical replicas inside a job.' })
export type RoleBody = z.infer<typeof RoleBody>

function words() {
  return z.array(z.string()).min(1).superRefine(flaws(argumentFlaws))
}

function imageText() {
  return z
    .string()
    .max(REQUEST_LIMITS.imageLength)
    .regex(/^[a-zA-Z0-9[][a-zA-Z0-9._:/@+[\]-]*$/, 'must be an image reference such as busybox, ghcr.io/me/train:1.2 or name@sha256:…')
}

function userText() {
  return z
    .string()
    .max(128)
    .regex(/^[a-zA-Z0-9_][a-zA-Z0-9_.-]*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$/, 'must be uid, uid:gid or a name, such as 1000:1000')
}

function argumentFlaws(argv: readonly string[]): Flaw[] {
  const bytes = argv.reduce((sum, argument) => sum + longestExpansion(argument) + 1, 0)
  return [
    ...(argv[0] === '' ? [{ code: 'empty_command', detail: 'must begin with the name of a program, not with empty text' }] : []),
    ...(bytes > REQUEST_LIMITS.commandBytes ? [tooLarge('arguments', bytes, REQUEST_LIMITS.commandBytes)] : []),
  ]
}

function variableNameFlaw(name: string): Flaw | null {
  if (name.startsWith('BERTH_'))
    return { code: 'reserved_name', detail: `"${name.slice(0, 80)}" is ours: variables that begin with BERTH_ are set by Berth` }
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return null
  return { code: 'bad_variable_name', detail: `"${name.slice(0, 80)}" must be letters, digits and "_", not beginning with a digit` }
}

function environmentFlaws(env: Readonly<Record<string, string>>): Flaw[] {
  const entries = Object.entries(env)
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + longestExpansion(value) + 2, 0)
  const { envVariables, envBytes } = REQUEST_LIMITS
  return [
    ...(entries.length > envVariables
      ? [{ code: 'too_many', detail: `must have at most ${envVariables} variables, not ${entries.length}` }]
      : []),
    ...(bytes > envBytes ? [tooLarge('names and values', bytes, envBytes)] : []),
  ]
}

const tooLarge = (what: string, bytes: number, most: number): Flaw => ({
  code: 'too_large',
  detail: `${what} must have at most ${most} bytes together, not ${bytes}: put large data into a volume`,
})

function mountStringFlaws(text: string): readonly Flaw[] {
  const read = parseMountString(text)
  return read.ok ? [] : read.flaws
}
