import { afterAll, describe, expect, test } from 'vitest'
import type { ObservationBatch } from '../../../../src/domain/attempt.ts'
import { renderAttempt } from '../../../../src/schedulers/docker/render.ts'
import { BenchOfJobs, handleOf } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest } from '../../../support/docker.ts'
import { requireDocker } from '../../../support/requirements.ts'

const daemon = requireDocker()
const none = { cpus: null, memoryMiB: null, shmMiB: null, gpus: null, pids: null }

describe.skipIf(daemon.missing)('a container', () => {
  const tested = createDockerUnderTest(daemon.host)
  const jobs = new BenchOfJobs(tested, 'busybox')
  const { signal } = new AbortController()
  afterAll(() => tested.dispose())

  const containerOf = async (attemptId: string): Promise<string> => {
    const found = (await tested.containers()).find(({ Names }) => Names[0]?.includes(attemptId.slice(4)))
    return found?.Id ?? 'not there'
  }

  test('that went over its memory ends as out_of_memory', async () => {
    const role = { ...jobs.role('main', ['tail', '/dev/zero']), resources: { ...none, memoryMiB: 16 } }
    expect(await jobs.complete(jobs.job([role]))).toMatchObject([{ phase: 'failed', exitCode: 137, failure: 'out_of_memory' }])
  })

  test('that was killed from outside ends as the job\'s failure, never as a success', async () => {
    const spec = jobs.shell('sleep 60')
    await jobs.submit(spec)
    await tested.engine.call({ method: 'POST', path: `/containers/${await containerOf(spec.attemptId)}/kill`, signal })
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'failed', exitCode: 137, failure: 'executor_error' }])
  })

  test('that was created and never started is pending, and has no outcome', async () => {
    const spec = jobs.shell('true')
    for (const container of renderAttempt(spec).containers) await tested.create(container)
    const seen = await jobs.observed(spec, (replicas) => replicas.length > 0)
    expect(seen).toMatchObject([{ phase: 'pending', exitCode: null, failure: null }])
    await tested.scheduler.remove(handleOf(spec), signal)
  })

  test('that somebody deleted disappears from its attempt at once', async () => {
    const spec = jobs.shell('sleep 60')
    await jobs.submit(spec)
    const stop = new AbortController()
    let seen: ObservationBatch['attempts'][number] | undefined
    for await (const batch of tested.scheduler.observe(stop.signal)) {
      seen = batch.attempts.find(({ attemptId }) => attemptId === spec.attemptId)
      const path = `/containers/${await containerOf(spec.attemptId)}`
      if (batch.complete) await tested.engine.call({ method: 'DELETE', path, query: { force: true }, signal })
      else if (seen?.replicas.length === 0) break
    }
    expect(seen).toEqual({ attemptId: spec.attemptId, replicas: [] })
  })

  test('that is frozen can be canceled', async () => {
    const spec = jobs.shell('sleep 60')
    await jobs.submit(spec)
    await tested.engine.call({ method: 'POST', path: `/containers/${await containerOf(spec.attemptId)}/pause`, signal })
    await tested.scheduler.cancel(handleOf(spec), signal)
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'failed' }])
  })

  test('has its limits, and no capabilities', async () => {
    const script = 'df -m /dev/shm | tail -1 | tr -s " " | cut -d" " -f2; grep CapEff /proc/self/status; hostname'
    const role = jobs.role('main', ['sh', '-c', script])
    const spec = jobs.job([{ ...role, resources: { cpus: 0.5, memoryMiB: 64, shmMiB: 7, gpus: null, pids: 50 } }])
    await jobs.complete(spec)
    expect((await jobs.output(spec)).toString()).toBe('7\nCapEff:\t0000000000000000\nmain-0\n')
    const path = `/containers/${await containerOf(spec.attemptId)}/json`
    const { HostConfig } = await tested.engine.call<{ HostConfig: object }>({ method: 'GET', path, signal })
    expect(HostConfig).toMatchObject({ NanoCpus: 5e8, Memory: 64 << 20, MemorySwap: 64 << 20, PidsLimit: 50, Binds: null })
  })

  test('takes a large environment in its body, not in its address', async () => {
    const env = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`V${index}`, 'x'.repeat(25_000)]))
    expect(await jobs.complete(jobs.shell('[ ${#V39} = 25000 ]', { env }))).toMatchObject([{ phase: 'succeeded' }])
  })

  test('is that of the configured daemon, whatever DOCKER_HOST says', async () => {
    process.env['DOCKER_HOST'] = 'tcp://127.0.0.1:1'
    try {
      expect(await createDockerUnderTest(daemon.host).scheduler.health(signal)).toMatch(/^Docker \d+.*API 1\.\d+/)
    } finally {
      delete process.env['DOCKER_HOST']
    }
  })
})
