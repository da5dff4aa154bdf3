import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptSpec, ReplicaObservation } from '../../../../src/domain/attempt.ts'
import type { ResourceLimit } from '../../../../src/domain/capabilities.ts'
import type { Resources } from '../../../../src/domain/job-spec.ts'
import { detectIsolation } from '../../../../src/schedulers/local/local-scheduler.ts'
import { BenchOfJobs } from '../../../contract/bench-of-jobs.ts'
import { createLocalUnderTest } from '../../../support/local.ts'
import type { LocalUnderTest } from '../../../support/local.ts'
import { requireProgram, requireRoot } from '../../../support/requirements.ts'

const unmet = requireRoot().missing || requireProgram('bwrap').missing || await detectIsolation() === 'links'

/** Each limit that the machine lets us set is really kept; those that it does not are not offered. */
describe.skipIf(unmet)('limits of a local replica', () => {
  let tested: LocalUnderTest
  let jobs: BenchOfJobs
  beforeAll(async () => {
    tested = await createLocalUnderTest('bubblewrap')
    jobs = new BenchOfJobs(tested, null)
  })
  afterAll(() => tested.dispose())

  function limited(script: string, resources: Partial<Resources>): AttemptSpec {
    const spec = jobs.shell(script)
    return { ...spec, roles: spec.roles.map((role) => ({ ...role, resources: { ...role.resources, ...resources } })) }
  }

  async function complete(script: string, resources: Partial<Resources>): Promise<{ replica?: ReplicaObservation; output: string }> {
    const spec = limited(script, resources)
    const [replica] = await jobs.complete(spec)
    return { ...(replica && { replica }), output: (await jobs.output(spec)).toString() }
  }

  const offered = (limit: ResourceLimit): boolean => tested.scheduler.capabilities.limits.includes(limit)

  test('of memory: going over it is out_of_memory, a plain 137 is not', async (context) => {
    if (!offered('memoryMiB')) context.skip()
    const greedy = await complete('head -c 200m /dev/zero | tail -c 190m > /dev/null', { memoryMiB: 32 })
    expect(greedy.replica).toMatchObject({ phase: 'failed', exitCode: 137, failure: 'out_of_memory' })
    const modest = await complete('kill -9 $$', { memoryMiB: 32 })
    expect(modest.replica).toMatchObject({ phase: 'failed', exitCode: 137, failure: 'executor_error' })
  })

  test('of processes: the next one cannot be started', async (context) => {
    if (!offered('pids')) context.skip()
    const { output } = await complete('for i in 1 2 3 4 5 6; do sleep 0.3 & echo $i; done; wait', { pids: 4 })
    expect(output).toBe('1\n2\n3\n')
  })

  test('of processors: a busy loop gets its share of time only', async (context) => {
    if (!offered('cpus')) context.skip()
    const { output } = await complete('timeout 0.6 sh -c "while :; do :; done"; times | tail -1', { cpus: 0.25 })
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s/.exec(output) ?? []
    expect(Number(minutes) * 60 + Number(seconds)).toBeLessThan(0.4)
  })

  test('of shared memory: it is full at its size', async () => {
    const { output } = await complete('head -c 9m /dev/zero > /dev/shm/x 2>/dev/null; stat -c %s /dev/shm/x', { shmMiB: 8 })
    expect(output).toBe(`${8 * 1024 * 1024}\n`)
  })

  test('go with the attempt', async () => {
    const before = await tested.leftovers()
    const spec = limited('true', { memoryMiB: 64, cpus: 1, pids: 10 })
    await jobs.complete(spec)
    await tested.scheduler.remove({ attemptId: spec.attemptId, graceSeconds: 0 }, new AbortController().signal)
    expect(await tested.leftovers()).toEqual(before)
  })
})
