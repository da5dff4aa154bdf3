import { plainUse } from '../src/domain/drives/compatibility.ts'
import { EXAMPLE_DRIVES } from '../src/domain/drives/example-drives.ts'
import { resolveDrive } from '../src/domain/drives/resolve-drive.ts'
import { SCHEDULER_PROFILES } from '../src/domain/drives/scheduler-profiles.ts'
import { MOUNT_MODES, type MountMode } from '../src/domain/mount.ts'
import type { DriveSnapshot } from '../src/domain/drives/drive.ts'
import type { SchedulerProfile } from '../src/domain/drives/scheduler-profiles.ts'

const COLUMNS = MOUNT_MODES

/** docs/compatibility.md: what each mode of each kind of drive comes to on a typical scheduler of each kind. */
export const compatibilityPage = (): string => `# What each drive becomes

<!-- Written by script/write-docs.ts (npm run docs) from src/domain/drives: change it there. -->

How a drive of each kind is mounted on a typical scheduler of each kind, by mode: the way for reading, and after a slash
the one for writing where it differs. A dash: it cannot be. Kubernetes and AWS Batch are decided here and not served yet, and
so is the rclone volume driver. \`GET /v1/drives/{name}/compatibility\` tells the same of your own schedulers, with every
reason.

${EXAMPLE_DRIVES.map(table).join('\n\n')}
`

const table = (drive: DriveSnapshot): string =>
  [
    `## ${drive.source.kind}`,
    '',
    `| scheduler | ${COLUMNS.join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---').join('|')}|`,
    ...Object.entries(SCHEDULER_PROFILES).map(
      ([name, profile]) => `| ${name} | ${COLUMNS.map((mode) => cell(drive, mode, profile)).join(' | ')} |`,
    ),
  ].join('\n')

function cell(drive: DriveSnapshot, mode: MountMode, profile: SchedulerProfile): string {
  const [reading, writing] = (['ro', 'rw'] as const).map((access) => {
    const resolved = resolveDrive(drive, plainUse(mode, access), profile)
    return resolved.ok ? resolved.plan.via : '–'
  })
  return reading === writing ? `${reading}` : `${reading} / ${writing}`
}
