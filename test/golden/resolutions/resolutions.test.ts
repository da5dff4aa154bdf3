import { describe, expect, test } from 'vitest'
import { plainUse } from '../../../src/domain/drives/compatibility.ts'
import { DRIVE_ACCESS, DRIVE_KINDS } from '../../../src/domain/drives/drive.ts'
import { resolveDrive } from '../../../src/domain/drives/resolve-drive.ts'
import { SCHEDULER_PROFILES } from '../../../src/domain/drives/scheduler-profiles.ts'
import { MOUNT_MODES } from '../../../src/domain/mount.ts'
import { EXAMPLE_DRIVES } from '../../../src/domain/drives/example-drives.ts'

test('there is an example of every kind', () => {
  expect(EXAMPLE_DRIVES.map(({ source }) => source.kind)).toEqual(DRIVE_KINDS)
})

describe('every cell of scheduler, mode and access is decided', () => {
  test.each(EXAMPLE_DRIVES.map((drive) => [drive.source.kind, drive] as const))('for a drive of kind %s', async (kind, drive) => {
    const lines = Object.entries(SCHEDULER_PROFILES).flatMap(([name, scheduler]) => [
      `${name}`,
      ...MOUNT_MODES.flatMap((mode) =>
        DRIVE_ACCESS.map((access) => {
          const resolved = resolveDrive(drive, plainUse(mode, access), scheduler)
          const cell = resolved.ok
            ? [JSON.stringify({ ...resolved.plan, path: undefined }), ...resolved.warnings.map((warning) => `! ${warning}`)].join('  ')
            : `- ${resolved.reasons.map(({ code }) => code).join(', ')}`
          return `  ${mode.padEnd(11)} ${access.padEnd(6)} ${cell}`
        }),
      ),
    ])
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`./${kind}.txt`)
  })
})
