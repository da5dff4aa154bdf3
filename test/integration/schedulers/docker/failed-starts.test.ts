import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { AttemptRole } from '../../../../src/domain/attempt.ts'
import { renderAttempt } from '../../../../src/schedulers/docker/render.ts'
import { BenchOfJobs } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest } from '../../../support/docker.ts'
import { requireDocker } from '../../../support/requirements.ts'

const daemon = requireDocker()
const none = { cpus: null, memoryMiB: null, shmMiB: null, gpus: null, pids: null }
const volume = { via: 'named_volume', path: '/v', readOnly: false } as const
const bind = { via: 'host_path', path: '/b', readOnly: true } as const
const device = { via: 'device', path: '/dev/x', permissions: 'rwm' } as const

describe.skipIf(daemon.missing)('an attempt that cannot be started', () => {
  const tested = createDockerUnderTest(daemon.host)
  const jobs = new BenchOfJobs(tested, 'busybox')
  const fine = { ...volume, volume: tested.newVolume() }
  afterAll(() => tested.dispose())

  test.each<[what: string, failure: string, role: Partial<AttemptRole>]>([
    ['a bind source that is not there', 'mount_failed', { mounts: [{ ...bind, hostPath: '/no/such/folder' }] }],
    ['a volume name that is too short', 'mount_failed', { mounts: [{ ...volume, volume: 'v' }] }],
    ['a device that is not there', 'mount_failed', { mounts: [{ ...device, hostPath: '/dev/no-such' }] }],
    ['too little memory', 'rejected', { resources: { ...none, memoryMiB: 1 } }],
    ['too little memory, with mounts that are fine', 'rejected', { resources: { ...none, memoryMiB: 1 }, mounts: [fine] }],
    ['more processors than there are', 'rejected', { resources: { ...none, cpus: 100_000 } }],
    ['a user whom the image does not know', 'rejected', { user: 'nobody-knows-me' }],
    ['a user whom the image does not know, with mounts that are fine', 'rejected', { user: 'nobody-knows-me', mounts: [fine] }],
    ['GPUs where there are none', 'rejected', { resources: { ...none, gpus: 1 } }],
    ['a name that no image can have', 'rejected', { image: 'NOT/an/Image' }],
    ['an image whose registry is not there', 'image_pull_failed', { image: '127.0.0.1:1/no/such' }],
  ])('for %s fails with %s, and leaves nothing', async (_, failure, role) => {
    const spec = jobs.job([{ ...jobs.role('main', ['true']), ...role }])
    await expect(jobs.submit(spec)).rejects.toMatchObject({ name: 'SchedulerError', kind: 'rejected', failure })
    expect(await tested.leftovers()).toEqual({ containers: 0, networks: 0 })
  })

  test('for a bind source that went away after the create fails with mount_failed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'berth-bind-'))
    const spec = jobs.job([{ ...jobs.role('main', ['true']), mounts: [{ ...bind, hostPath: folder }] }])
    for (const container of renderAttempt(spec).containers) await tested.create(container)
    await rm(folder, { recursive: true })
    await expect(jobs.submit(spec)).rejects.toMatchObject({ kind: 'rejected', failure: 'mount_failed' })
    expect(await tested.leftovers()).toEqual({ containers: 0, networks: 0 })
  })

  test('because of one replica ends the others', async () => {
    const good = jobs.role('good', ['sleep', '60'])
    const bad = { ...jobs.role('bad', ['true']), user: 'nobody-knows-me' }
    await expect(jobs.submit(jobs.job([good, bad]))).rejects.toMatchObject({ kind: 'rejected' })
    expect((await tested.containers()).filter(({ State }) => State === 'running')).toEqual([])
  })

  test('says it in the words of the daemon', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'berth-bind-')), 'gone')
    await writeFile(file, '').then(() => rm(file))
    const spec = jobs.job([{ ...jobs.role('main', ['true']), mounts: [{ ...bind, hostPath: file }] }])
    await expect(jobs.submit(spec)).rejects.toThrow(file)
  })
})
