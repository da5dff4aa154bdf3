import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptSpec } from '../../../../src/domain/attempt.ts'
import type { MountPlan } from '../../../../src/domain/mount-plan.ts'
import { detectIsolation } from '../../../../src/schedulers/local/local-scheduler.ts'
import { localMount } from '../../../../src/schedulers/local/mounts.ts'
import { BenchOfJobs, volumeAt } from '../../../contract/bench-of-jobs.ts'
import { createLocalUnderTest } from '../../../support/local.ts'
import type { LocalUnderTest } from '../../../support/local.ts'
import { requireProgram, requireRoot } from '../../../support/requirements.ts'

const unmet = requireProgram('bwrap').missing || (await detectIsolation()) === 'links'

test('a link can only be had below /mnt/berth and to be written; a device never', () => {
  const refusal = expect.objectContaining({ kind: 'rejected', failure: 'mount_failed' }) as Error
  const making =
    (plan: MountPlan, isolation: 'links' | 'bubblewrap' = 'links') =>
    () =>
      localMount(plan, { root: '/r', isolation, driveRoot: null, folder: '/r/x' })
  expect(making(volumeAt('v', '/data'))).toThrow(refusal)
  expect(making(volumeAt('v', '/mnt/berth/v', true))).toThrow(refusal)
  expect(making({ via: 'tmpfs', path: '/mnt/berth/t', sizeMiB: null, readOnly: false })).toThrow(refusal)
  expect(making({ via: 'device', path: '/dev/fuse', hostPath: '/dev/fuse', permissions: 'r' }, 'bubblewrap')).toThrow(refusal)
  expect(localMount(volumeAt('v', '/mnt/berth/v'), { root: '/r', isolation: 'links', driveRoot: null, folder: '/r/x' })).toMatchObject([
    { source: '/r/volumes/v' },
  ])
})

describe.skipIf(unmet)('mounts of a local replica', () => {
  const home = mkdtempSync(join(tmpdir(), 'berth-mounts-'))
  let tested: LocalUnderTest
  let jobs: BenchOfJobs
  beforeAll(async () => {
    for (const folder of ['open/in', 'secret']) mkdirSync(join(home, folder), { recursive: true })
    writeFileSync(join(home, 'open/in/file'), 'from the machine\n')
    symlinkSync(join(home, 'secret'), join(home, 'open/link'))
    tested = await createLocalUnderTest('bubblewrap', [{ root: join(home, 'open'), readOnly: false }])
    jobs = new BenchOfJobs(tested, null)
  })
  afterAll(async () => {
    await tested.dispose()
    rmSync(home, { recursive: true })
  })

  const bind = (source: string, path: string, readOnly = false): MountPlan => ({
    via: 'host_path',
    hostPath: join(home, source),
    path,
    readOnly,
  })

  async function output(spec: AttemptSpec): Promise<string> {
    await jobs.complete(spec)
    return Buffer.concat([await jobs.output(spec), await jobs.output(spec, {}, 'stderr')]).toString()
  }

  test('show a folder and a file of the machine at paths that it does not have', async () => {
    const mounts = [bind('open/in', '/usr/share/berth/in'), bind('open/in/file', '/etc/berth/file', true)]
    const script = 'cat /usr/share/berth/in/file /etc/berth/file; echo mine > /usr/share/berth/in/new; echo no > /etc/berth/file'
    expect(await output(jobs.shell(script, { mounts }))).toMatch(/^from the machine\nfrom the machine\n.*Read-only file system\n$/)
    expect(readFileSync(join(home, 'open/in/new'), 'utf8')).toBe('mine\n')
  })

  test('leave no descriptor of ours with the job', async () => {
    const script = 'for fd in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$fd ] && readlink /proc/self/fd/$fd; done; true'
    expect(await output(jobs.shell(script, { mounts: [bind('open', '/in')] }))).toBe('')
  })

  test.each(['open/link', 'open/nothing', 'secret'])('refuse %s before anything starts', async (source) => {
    const before = await tested.leftovers()
    const spec = jobs.shell('true', { mounts: [bind(source, '/in')], replicas: 2 })
    await expect(jobs.submit(spec)).rejects.toMatchObject({ kind: 'rejected', failure: 'mount_failed' })
    await tested.scheduler.remove({ attemptId: spec.attemptId, graceSeconds: 0 }, new AbortController().signal)
    expect(await tested.leftovers()).toEqual(before)
  })

  test('may lie over /tmp, over one another and where the machine has other things', async () => {
    const [outer, inner] = [tested.newVolume(), tested.newVolume()]
    const apart = [volumeAt(outer, '/tmp'), volumeAt(inner, '/media')]
    await jobs.complete(jobs.shell('echo outer > /tmp/x; echo inner > /media/x', { mounts: apart }))
    const mounts = [volumeAt(inner, '/srv/v/deep/er'), volumeAt(outer, '/srv/v', true)]
    expect(await output(jobs.shell('cat /srv/v/x /srv/v/deep/er/x', { mounts }))).toBe('outer\ninner\n')
  })

  test('that hide what every command needs fail as mounts', async () => {
    const [replica] = await jobs.complete(jobs.shell('true', { mounts: [volumeAt(tested.newVolume(), '/usr/bin')] }))
    expect(replica).toMatchObject({ phase: 'failed', failure: 'mount_failed', exitCode: null })
  })

  test('of type tmpfs hold no more than their size', async () => {
    const mounts = [{ via: 'tmpfs', path: '/fast', sizeMiB: 2, readOnly: false } as const]
    const script = 'head -c 3m /dev/zero > /fast/x 2>/dev/null; stat -c %s /fast/x'
    expect(await output(jobs.shell(script, { mounts }))).toBe(`${2 * 1024 * 1024}\n`)
  })

  test.skipIf(requireRoot().missing)('of a volume can be written by every user, from a working directory of its own', async () => {
    const mounts = [volumeAt(tested.newVolume(), '/v')]
    const spec = jobs.shell('id -u > /v/who; cat /v/who; touch here; pwd', { mounts, workingDir: '/home/job' })
    const roles = spec.roles.map((role) => ({ ...role, user: '4711:4712' }))
    expect(await output({ ...spec, roles })).toBe('4711\n/home/job\n')
  })
})
