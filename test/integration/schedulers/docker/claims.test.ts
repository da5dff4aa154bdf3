import { afterAll, describe, expect, test } from 'vitest'
import type { AttemptSpec } from '../../../../src/domain/attempt.ts'
import { statusOf } from '../../../../src/schedulers/docker/engine.ts'
import { renderAttempt } from '../../../../src/schedulers/docker/render.ts'
import { BenchOfJobs, handleOf, patience, volumeAt } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest, dockerScheduler } from '../../../support/docker.ts'
import { requireDocker } from '../../../support/requirements.ts'

const daemon = requireDocker()

describe.skipIf(daemon.missing)('the rename fence', () => {
  const tested = createDockerUnderTest(daemon.host)
  const jobs = new BenchOfJobs(tested, 'busybox')
  const { signal } = patience()
  afterAll(() => tested.dispose())

  const noting = (volume: string): AttemptSpec => jobs.shell('echo started >> /truth/starts', { mounts: [volumeAt(volume, '/truth')] })

  /** What a claim leaves that died after its create, or after its start. */
  async function leave(spec: AttemptSpec, { start = false } = {}): Promise<void> {
    for (const { name, create } of renderAttempt(spec).containers) {
      await tested.create({ name, create })
      if (start) await tested.start(name)
    }
  }

  const namesOf = async ({ attemptId }: AttemptSpec): Promise<string[]> => {
    const names = (await tested.containers()).flatMap(({ Names }) => Names)
    return names.filter((name) => name.includes(attemptId.slice(4))).map((name) => name.replace(/.*-e/, 'e'))
  }

  test('starts what an earlier claim only created, under the later name', async () => {
    const volume = tested.newVolume()
    const spec = noting(volume)
    await leave(spec)
    await jobs.complete({ ...spec, epoch: 2 })
    expect(await namesOf(spec)).toEqual(['e2'])
    expect(await jobs.read(volume, 'starts')).toBe('started\n')
  })

  test('lets an earlier claim that comes late delete what it made', async () => {
    const volume = tested.newVolume()
    const spec = noting(volume)
    await jobs.complete({ ...spec, epoch: 2 })
    await expect(jobs.submit(spec)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await namesOf(spec)).toEqual(['e2'])
    expect(await jobs.read(volume, 'starts')).toBe('started\n')
  })

  test('deletes what an earlier claim created beside it, and starts its own', async () => {
    const volume = tested.newVolume()
    const spec = noting(volume)
    await leave({ ...spec, epoch: 2 })
    await leave(spec)
    await jobs.complete({ ...spec, epoch: 2 })
    expect(await namesOf(spec)).toEqual(['e2'])
    expect(await jobs.read(volume, 'starts')).toBe('started\n')
  })

  test('adopts what an earlier claim started beside it, and deletes its own', async () => {
    const volume = tested.newVolume()
    const spec = noting(volume)
    await leave({ ...spec, epoch: 2 })
    await leave(spec, { start: true })
    await jobs.complete({ ...spec, epoch: 2 })
    expect(await namesOf(spec)).toEqual(['e2'])
    expect(await jobs.read(volume, 'starts')).toBe('started\n')
  })

  test('completes what an earlier claim began: the replica that is missing is made', async () => {
    const volume = tested.newVolume()
    const spec = jobs.shell('echo $BERTH_REPLICA >> /truth/starts', { mounts: [volumeAt(volume, '/truth')], replicas: 2 })
    const {
      network,
      containers: [first],
    } = renderAttempt(spec)
    if (first === undefined) throw new Error('nothing rendered')
    await tested.engine.call({ method: 'POST', path: '/networks/create', body: network ?? {}, signal })
    await tested.create(first)
    await tested.start(first.name)
    await jobs.complete({ ...spec, epoch: 2 })
    expect((await jobs.read(volume, 'starts')).split('\n').sort()).toEqual(['', '0', '1'])
    expect(await tested.leftovers()).toMatchObject({ networks: 1 })
  })

  test('starts a job once when two claims of two workers race', { timeout: 60_000 }, async () => {
    const other = dockerScheduler({ installation: tested.installation, host: daemon.host })
    for (let round = 0; round < 6; round++) {
      const volume = tested.newVolume()
      const spec = noting(volume)
      const late = other.submit(renderAttempt(spec), patience()).catch((error: unknown) => error)
      await new Promise((resolve) => setTimeout(resolve, round * 8))
      await jobs.submit({ ...spec, epoch: 2 })
      await late
      await jobs.ended(spec)
      expect(await namesOf(spec)).toEqual(['e2'])
      expect(await jobs.read(volume, 'starts')).toBe('started\n')
    }
  })

  test('makes one network when two submits race', async () => {
    const other = dockerScheduler({ installation: tested.installation, host: daemon.host })
    for (let round = 0; round < 4; round++) {
      const before = await tested.leftovers()
      const spec = jobs.shell('true', { replicas: 2 })
      await Promise.all([jobs.submit(spec), other.submit(renderAttempt(spec), patience())])
      expect((await tested.leftovers())['networks']).toBe((before['networks'] ?? 0) + 1)
      expect((await jobs.ended(spec)).map(({ phase }) => phase)).toEqual(['succeeded', 'succeeded'])
      await tested.scheduler.remove(handleOf(spec), signal)
    }
  })

  test('gets over two networks of one name, which old daemons allow', async () => {
    const spec = jobs.shell('true', { replicas: 2 })
    const body = { ...renderAttempt(spec).network, CheckDuplicate: false }
    await tested.engine.call({ method: 'POST', path: '/networks/create', body, signal })
    const again = tested.engine.call({ method: 'POST', path: '/networks/create', body, signal })
    expect(['made', 409]).toContain(await again.then(() => 'made', statusOf))
    expect((await jobs.complete(spec)).map(({ phase }) => phase)).toEqual(['succeeded', 'succeeded'])
    await tested.scheduler.remove(handleOf(spec), signal)
    const query = { filters: { name: [body.Name ?? ''] } }
    expect(await tested.engine.call({ method: 'GET', path: '/networks', query, signal })).toEqual([])
  })

  test('makes the network again that was taken away between create and start', async () => {
    const spec = jobs.shell('true', { replicas: 2 })
    const body = renderAttempt(spec).network ?? { Name: '' }
    await tested.engine.call({ method: 'POST', path: '/networks/create', body, signal })
    await leave(spec)
    await tested.engine.call({ method: 'DELETE', path: `/networks/${body.Name}`, signal })
    expect((await jobs.complete(spec)).map(({ phase }) => phase)).toEqual(['succeeded', 'succeeded'])
  })

  test('keeps away from a container of another owner that has the name (case 22)', async () => {
    const spec = jobs.shell('true')
    const query = { name: renderAttempt(spec).containers[0]?.name ?? '' }
    const body = { Image: 'busybox', Cmd: ['true'], Labels: { 'berth.installation': tested.installation } }
    await tested.engine.call({ method: 'POST', path: '/containers/create', query, body, signal })
    await expect(jobs.submit(spec)).rejects.toMatchObject({ kind: 'conflict', failure: 'system_error' })
  })

  test('never starts what was canceled before its start', async () => {
    const volume = tested.newVolume()
    const spec = noting(volume)
    await leave(spec)
    await tested.scheduler.cancel(handleOf(spec), signal)
    expect(await namesOf(spec)).toEqual([])
  })
})
