import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SchedulerError } from '../../../../src/schedulers/scheduler.ts'
import { BenchOfJobs, patience } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest, type DockerUnderTest } from '../../../support/docker.ts'
import { startProxy, type Proxy } from '../../../support/proxy.ts'
import { requireDocker } from '../../../support/requirements.ts'

const daemon = requireDocker()

describe.skipIf(daemon.missing)('when the connection to the daemon is lost', () => {
  let proxy: Proxy
  let tested: DockerUnderTest
  let jobs: BenchOfJobs
  beforeAll(async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'berth-docker-')), 'docker.sock')
    proxy = await startProxy({ path: new URL(daemon.host).pathname }, { path })
    tested = createDockerUnderTest(`unix://${path}`)
    jobs = new BenchOfJobs(tested, 'busybox')
  })
  afterAll(async () => {
    await proxy.open()
    await tested.dispose()
    await proxy.close()
  })
  const flicker = async (): Promise<void> => {
    await proxy.shut()
    await proxy.open()
  }

  test('for a moment, observing goes on with everything', async () => {
    const spec = jobs.shell('sleep 1')
    await jobs.submit(spec)
    const stop = new AbortController()
    const complete: boolean[] = []
    for await (const batch of tested.scheduler.observe(stop.signal)) {
      complete.push(batch.complete)
      if (complete.length === 1) await flicker()
      if (batch.attempts.some(({ attemptId, replicas }) => attemptId === spec.attemptId && replicas[0]?.phase === 'succeeded')) break
    }
    expect(complete.slice(0, 2)).toEqual([true, true])
  })

  test('for longer, observing fails as unavailable', async () => {
    const batches = tested.scheduler.observe(new AbortController().signal)[Symbol.asyncIterator]()
    await batches.next()
    const failure = batches.next().then(() => 'a batch', (error: unknown) => error)
    await proxy.shut()
    expect(await failure).toMatchObject({ name: 'SchedulerError', kind: 'unavailable' })
    await proxy.open()
  })

  test('for a moment, a log that is followed has no gap and nothing twice', async () => {
    const spec = jobs.shell('i=0; while [ $i -lt 2000 ]; do echo line $i; [ $((i % 100)) = 0 ] && sleep 0.05; i=$((i+1)); done')
    await jobs.submit(spec)
    const cutting = (async () => {
      for (let cut = 0; cut < 3; cut++) {
        await sleep(250)
        await flicker()
      }
    })()
    // The look at the container may meet the cut as well; the reader goes on from where it was.
    let text = ''
    for (let tries = 0; tries < 10; tries++) {
      try {
        for await (const { bytes } of jobs.logs(spec, { from: { stdout: text.length, stderr: 0 } })) text += Buffer.from(bytes).toString()
        break
      } catch (error) {
        if (!(error instanceof SchedulerError) || error.kind !== 'unavailable') throw error
        await sleep(50)
      }
    }
    await cutting
    expect(text).toBe(Array.from({ length: 2000 }, (_, index) => `line ${index}\n`).join(''))
  })

  test('in the middle of a start, submitting again starts nothing twice (cases 15, 16)', async () => {
    const volume = tested.newVolume()
    const mounts = [{ via: 'named_volume', volume, path: '/truth', readOnly: false } as const]
    for (let round = 0; round < 5; round++) {
      const spec = jobs.shell(`echo ${round} >> /truth/starts`, { mounts })
      const native = tested.scheduler.render(spec)
      const first = tested.scheduler.submit(native, patience()).catch((error: unknown) => error)
      await sleep(5 + round * 40)
      await flicker()
      await first
      const again = (): Promise<string> => jobs.submit({ ...spec, epoch: 2 + round }).then(() => 'submitted', String)
      await expect.poll(again, { timeout: 10_000 }).toBe('submitted')
      await jobs.ended(spec)
    }
    expect(await jobs.read(volume, 'starts')).toBe('0\n1\n2\n3\n4\n')
  })

  test('for good, nothing hangs: a daemon that says nothing is unavailable after a while', async () => {
    proxy.hush()
    await expect(tested.scheduler.health(new AbortController().signal)).rejects.toMatchObject({ kind: 'unavailable' })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 200)
    const removing = tested.scheduler.remove({ attemptId: 'att_x', graceSeconds: 1 }, stop.signal)
    await expect(removing).rejects.toMatchObject({ kind: 'unavailable' })
    await proxy.open()
  })
})
