import { z } from 'zod'
import type { Flaw } from '../fault.ts'
import { pathFlaw, targetFlaw } from '../mount-path.ts'
import { MOUNT_MODES, OPTIMIZATIONS, REQUIREMENTS } from '../mount.ts'
import { nameText } from '../names-on-the-wire.ts'
import { flaws } from '../parse-body.ts'
import { SourceBody } from './drive-body.ts'
import { DRIVE_ACCESS } from './drive.ts'
import { objectKeyFlaw } from './object-key.ts'

const pattern = z.string().min(1).max(255).superRefine(flaws(patternFlaw))

/** What is taken out of a mount, as a client writes it. */
export const OutputsBody = z
  .strictObject({
    include: z
      .array(pattern)
      .max(100)
      .optional()
      .meta({ description: 'Patterns of paths below the mount; everything if it is left out.', examples: [['**/*.pt']] }),
    exclude: z.array(pattern).max(100).optional().meta({ description: 'Patterns of what is left behind.' }),
    when: z
      .enum(['success', 'always', 'failure'])
      .optional()
      .meta({ description: 'After which ends of an attempt; `success` if it is left out.' }),
    symlinks: z
      .enum(['skip', 'follow', 'fail'])
      .optional()
      .meta({
        description:
          'Symbolic links: `skip` (if it is left out) leaves them behind, `follow` copies the file of the same mount that one leads ' +
          'to, `fail` makes one a failure.',
      }),
    intervalSeconds: z
      .int()
      .min(5)
      .max(86_400)
      .nullish()
      .meta({ description: 'Taken out as it stands again and again while the job runs, at this interval at the least.' }),
  })
  .meta({ id: 'OutputsBody', description: 'Which files of a mount that copies out become visible on the drive, and when.' })

const use = {
  path: z
    .string()
    .superRefine(flaws((path: string) => targetFlaw(path, 'drive')))
    .optional()
    .meta({
      description: 'Where the role sees it; `/data/` and the last name of the drive or source if it is left out.',
      examples: ['/data'],
    }),
  mode: z
    .enum(MOUNT_MODES)
    .optional()
    .meta({
      description:
        'How the role sees it. `mount`: live. `cached`: live, through a cache. `copy_in`: a copy from before the start. ' +
        '`copy_out`: an empty directory whose files are put on the drive after the end. `copy_in_out`: both. `api`: ' +
        'nothing, only a reference and a token in BERTH_DRIVES. `auto` (if it is left out): what fits best.',
    }),
  access: z.enum(DRIVE_ACCESS).optional().meta({
    description: 'What the role may do. If it is left out: `rw` for `copy_out` and `copy_in_out`, else `ro`.',
  }),
  subPath: z
    .string()
    .superRefine(flaws(subPathFlaw))
    .optional()
    .meta({
      description: 'Which part of the drive; all of it if it is left out. Macros such as `${replica}` stand for their values.',
      examples: ['runs/${job_id}'],
    }),
  optimization: z
    .enum(OPTIMIZATIONS)
    .optional()
    .meta({ description: 'What it may cost, never what it means; `default` if it is left out.' }),
  immutable: z.boolean().optional().meta({ description: 'Nobody changes it while the job runs, so that caches need not look again.' }),
  maxStalenessSeconds: z.int().min(0).max(86_400).nullish().meta({ description: 'How old what a cache tells may be.' }),
  requires: z.array(z.enum(REQUIREMENTS)).max(REQUIREMENTS.length).optional().meta({
    description: 'What the program needs of the file system; ways to mount that lack it are not taken.',
  }),
  onConflict: z.enum(['fail', 'replace', 'keep']).optional().meta({
    description:
      'When an output is on the drive already: `replace` it (if it is left out), `keep` that, or `fail`. With access `create`: `fail`.',
  }),
  outputs: OutputsBody.optional(),
  options: z
    .record(z.string().max(64), z.string().max(255))
    .optional()
    .meta({ description: 'Of the tool that mounts it, such as `nfsvers` or `buffer-size`: the documentation lists them.' }),
  allowNested: z.boolean().optional().meta({ description: 'Whether other mounts of the role may lie inside of it.' }),
}

/** A mount of a registered drive, as a client writes it. */
export const DriveMountBody = z
  .strictObject({ type: z.literal('drive'), drive: nameText().meta({ description: 'Name of the drive.', examples: ['datasets'] }), ...use })
  .meta({ id: 'DriveMountBody', description: 'A registered drive.', examples: [{ type: 'drive', drive: 'datasets', path: '/data' }] })
export type DriveMountBody = z.infer<typeof DriveMountBody>

/** A mount of storage that is not registered, as a client writes it. */
export const SourceMountBody = z
  .strictObject({ type: z.literal('source'), source: SourceBody, ...use })
  .meta({ id: 'SourceMountBody', description: 'Storage that is not registered as a drive.' })
export type SourceMountBody = z.infer<typeof SourceMountBody>

/** Macros are looked at once they are replaced; here whatever stands for them must do. */
function subPathFlaw(text: string): Flaw | null {
  return text === '' ? null : objectKeyFlaw(text.replace(/\/$/, '').replace(/\$\{(job_id|attempt|role|replica)\}/g, 'x'))
}

function patternFlaw(text: string): Flaw | null {
  return text.startsWith('/') || text.split('/').includes('..')
    ? { code: 'bad_pattern', detail: 'must be relative to the mount, without ..' }
    : pathFlaw(`/${text.replaceAll('//', '/')}`)
}
