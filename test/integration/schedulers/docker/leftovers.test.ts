import { afterAll, describe, expect, test } from 'vitest'
import { renderAttempt } from '../../../../src/schedulers/docker/render.ts'
import { BenchOfJobs, handleOf, patience } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest } from '../../../support/docker.ts'
import { requireDocker } from '../../../support/requirements.ts'

const daemon = requireDocker()

describe.skipIf(daemon.missing)('an attempt of which only a network is left', () => {
  const tested = createDockerUnderTest(daemon.host)
  const jobs = new BenchOfJobs(tested, 'busybox')
  const { signal } = patience()
  afterAll(() => tested.dispose())

  test('is told of as one without replicas, until that is removed too', async () => {
    const spec = jobs.shell('true', { replicas: 2 })
    await tested.engine.call({ method: 'POST', path: '/networks/create', body: renderAttempt(spec).network ?? {}, signal })
    expect(await jobs.everything()).toContain(spec.attemptId)
    await tested.scheduler.remove(handleOf(spec), signal)
    expect(await jobs.everything()).not.toContain(spec.attemptId)
    expect(await tested.leftovers()).toEqual({ containers: 0, networks: 0 })
  })
})
