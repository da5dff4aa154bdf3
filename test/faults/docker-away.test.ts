import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { LABELS } from '../../src/schedulers/docker/labels.ts'
import type { BerthProcess } from '../support/berth-process.ts'
import { eventually } from '../support/eventually.ts'
import { firstDifference } from '../support/first-difference.ts'
import { memoryGrowth } from '../support/memory-growth.ts'
import { startPrivateDocker, type PrivateDocker } from '../support/private-docker.ts'
import { Installation } from '../support/installation.ts'
import { shellJob } from '../support/places.ts'
import { startProxy, type Proxy } from '../support/proxy.ts'
import { requireDocker, requireProgram, requireRoot } from '../support/requirements.ts'

const docker = requireDocker()
const MIB = 1024 * 1024
/** Of 1,000 bytes, the newline among them: 50 MB. */
const LINES = 50_000

describe.skipIf(docker.missing)('while the Docker socket is gone', () => {
  let berth: Installation
  let socket: Proxy
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-socket-'))
    socket = await startProxy({ path: docker.host.replace('unix://', '') }, { path: join(folder, 'docker.sock') })
    berth = await Installation.create({ dockerHost: `unix://${join(folder, 'docker.sock')}` })
    await berth.start()
  })
  afterAll(async () => {
    await socket.open()
    await berth.dispose()
    await socket.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('a job is accepted, says what it waits for, and runs once when the socket is back', async () => {
    await socket.shut()
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'echo done'))
    const waiting = await berth.client.until(id, ({ reason }) => reason === 'scheduler_unreachable', 10)
    expect(waiting).toMatchObject({ state: 'starting', detail: expect.stringContaining('cannot be reached') })
    await expect
      .poll(async () => (await berth.client.request('GET', '/v1/schedulers')).body, { timeout: 15_000 })
      .toMatchObject({
        items: expect.arrayContaining([expect.objectContaining({ name: 'docker', health: expect.objectContaining({ healthy: false }) })]),
      })
    await socket.open()
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded', reason: null })
    await berth.client.events(id)
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    await berth.untilClean()
  })

  it('a job goes on, says that it cannot be seen, and has its true outcome when the socket is back', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'echo before; sleep 6; echo after; exit 7'))
    await berth.client.until(id, ({ state }) => state === 'running')
    await socket.shut()
    await berth.client.until(id, ({ state, reason }) => state === 'running' && reason === 'scheduler_unreachable', 15)
    await sleep(5_000)
    await socket.open()
    const back = performance.now()
    const job = await berth.client.ended(id)
    console.log(`outcome ${Math.round(performance.now() - back)} ms after the Docker socket came back`)
    expect(performance.now() - back).toBeLessThan(20_000)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error', attempts: [{ roles: [{ replicas: [{ exitCode: 7 }] }] }] })
    expect((await berth.client.log(id)).toString()).toBe('before\nafter\n')
    await berth.client.events(id)
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    await berth.untilClean()
  })

  it('a job that is canceled is canceled when the socket is back, and not before', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'sleep 60', { graceSeconds: 0 }))
    await berth.client.until(id, ({ state }) => state === 'running')
    await socket.shut()
    await berth.client.cancel(id)
    await berth.client.until(id, ({ state, reason }) => state === 'canceling' && reason === 'scheduler_unreachable', 15)
    await socket.open()
    expect(await berth.client.ended(id)).toMatchObject({ state: 'canceled' })
    await berth.untilClean()
  })

  it('a daemon that says nothing more is found out, and a job that waited for its answer has its true outcome', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'sleep 3; echo done'))
    await berth.client.until(id, ({ state }) => state === 'running')
    socket.hush()
    await sleep(4_000)
    await socket.open()
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    await berth.untilClean()
  })
})

const root = requireRoot()
const dockerd = requireProgram('dockerd')

describe.skipIf(root.missing || dockerd.missing)('when the Docker daemon itself', () => {
  let own: PrivateDocker
  let berth: Installation

  beforeAll(async () => {
    own = await startPrivateDocker()
    berth = await Installation.create({ dockerHost: own.host })
    await berth.start()
  })
  afterAll(async () => {
    await berth.dispose()
    await own.stop()
  })

  it('is killed, a job that ends meanwhile has its own exit code after the restart (case 17)', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'echo before; sleep 3; echo after; exit 7'))
    await berth.client.until(id, ({ state }) => state === 'running')
    await own.kill()
    await sleep(4_000)
    await own.start()
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error', attempts: [{ roles: [{ replicas: [{ exitCode: 7 }] }] }] })
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    // What is written while the daemon is dead it may never have read.
    expect((await berth.client.log(id)).toString()).toMatch(/^before\n/)
    await berth.untilClean()
  })

  it('dies while somebody removes a container, a job whose output nobody can read any more ends as it truly did', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'echo before; sleep 2; exit 7'))
    await berth.client.until(id, ({ state }) => state === 'running')
    await eventually(
      () => berth.client.log(id),
      (output) => output.toString() === 'before\n',
    )
    await berth.processes.at(-1)?.kill()
    await sleep(3_000)
    await own.kill('SIGTERM')
    const [container] = await readdir(join(own.data, 'containers'))
    const config = join(own.data, 'containers', container ?? '', 'config.v2.json')
    const { State, ...rest } = JSON.parse(await readFile(config, 'utf8')) as { State: object }
    await writeFile(config, JSON.stringify({ ...rest, State: { ...State, Dead: true } }))
    await own.start()
    await berth.start()
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error', attempts: [{ roles: [{ replicas: [{ exitCode: 7 }] }] }] })
    expect((await berth.client.log(id)).toString()).toBe('before\n')
    await berth.untilClean()
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'is ended by %s, what it ends itself is lost, which uses no attempt, and is tried again (case 18)',
    async (signal) => {
      const script = '[ "$BERTH_ATTEMPT" = 1 ] && sleep 60; echo done'
      const { id } = await berth.client.submit(shellJob(berth, 'docker', script, { retries: { max: 0, backoffSeconds: 0 } }))
      await berth.client.until(id, ({ state }) => state === 'running')
      await own.kill(signal)
      await own.start()
      const job = await berth.client.ended(id)
      expect(job.attempts.map(({ state, reason }) => [state, reason])).toEqual([
        ['failed', 'lost'],
        ['succeeded', null],
      ])
      expect(await berth.starts(id)).toEqual(['1/main/0', '2/main/0'])
      await berth.untilClean()
    },
  )
})

describe.skipIf(root.missing || dockerd.missing)('a daemon that keeps its containers, and dies before it has noted a start,', () => {
  let own: PrivateDocker
  let berth: Installation

  beforeAll(async () => {
    own = await startPrivateDocker({ flags: ['--live-restore'] })
    berth = await Installation.create({ dockerHost: own.host })
    await berth.start()
  })
  afterAll(async () => {
    await berth.dispose()
    await own.stop()
  })

  it('has the job run once in each attempt', { timeout: 180_000 }, async () => {
    let lost = 0
    for (let round = 0; round < 6; round += 1) {
      const { id } = await berth.client.submit(shellJob(berth, 'docker', 'sleep 0.2', { retries: { max: 0, backoffSeconds: 0 } }))
      while ((await berth.starts(id)).length === 0) await sleep(2)
      await own.kill()
      await sleep(500)
      await own.start()
      const { state, attempts } = await berth.client.ended(id)
      expect(state).toBe('succeeded')
      lost += attempts.length - 1
      const starts = await berth.starts(id)
      expect(starts).toEqual([...new Set(starts)])
      await berth.untilClean()
    }
    console.log(`${lost} of 6 starts were not noted`)
  })

  it('has a job lost that was known to run, and tried again', async () => {
    const script = '[ "$BERTH_ATTEMPT" = 2 ] || sleep 5'
    const { id } = await berth.client.submit(shellJob(berth, 'docker', script, { retries: { max: 0, backoffSeconds: 0 } }))
    await eventually(
      () => berth.database.pool.query('SELECT FROM attempt WHERE job_id = $1 AND submitted_at IS NOT NULL', [id]),
      ({ rowCount }) => rowCount === 1,
    )
    await own.kill()
    await forgetStart(own, 0)
    await own.start()
    const { state, attempts } = await berth.client.ended(id)
    expect([state, ...attempts.map(({ reason }) => reason)]).toEqual(['succeeded', 'lost', null])
    expect(await berth.starts(id)).toEqual(['1/main/0', '2/main/0'])
    await berth.untilClean()
  })

  it('has the other replicas end when one may have run, before the next attempt begins', async () => {
    await berth.processes.at(-1)?.kill()
    const doomed = await berth.start({ crashPoint: 'submit.native.after' })
    const script = '[ "$BERTH_ATTEMPT" = 2 ] || { sleep 10; touch "/truth/$BERTH_JOB_ID.$BERTH_REPLICA"; }'
    const job = shellJob(berth, 'docker', script, { replicas: 2, retries: { max: 0, backoffSeconds: 0 } })
    const { id } = await berth.client.submit(job)
    await doomed.ended
    await eventually(
      () => berth.starts(id),
      (starts) => starts.length === 2,
    )
    await own.kill()
    await forgetStart(own, 1)
    await own.start()
    await berth.start()
    const { attempts } = await berth.client.ended(id)
    expect(attempts.map(({ state, reason }) => [state, reason])).toEqual([
      ['failed', 'lost'],
      ['succeeded', null],
    ])
    expect((await berth.starts(id)).sort()).toEqual(['1/main/0', '1/main/1', '2/main/0', '2/main/1'])
    await eventually(() => existsSync(join(berth.truth, `${id}.1`)), Boolean)
    expect(existsSync(join(berth.truth, `${id}.0`))).toBe(false)
    await berth.untilClean()
  })
})

/** Has the dead daemon know nothing of the start of a replica that runs. */
async function forgetStart({ data }: PrivateDocker, replica: number): Promise<void> {
  for (const id of await readdir(join(data, 'containers'))) {
    const path = join(data, 'containers', id, 'config.v2.json')
    const config = JSON.parse(await readFile(path, 'utf8')) as { Config: { Labels: Record<string, string> }; State: object }
    if (config.Config.Labels[LABELS.replica] !== String(replica)) continue
    const State = { ...config.State, Running: false, Pid: 0, StartedAt: '0001-01-01T00:00:00Z' }
    await writeFile(path, JSON.stringify({ ...config, State }))
  }
}

describe.skipIf(root.missing || dockerd.missing)(
  '100 MB of output, through a restart of a daemon that keeps its containers (case 19)',
  () => {
    let own: PrivateDocker
    let berth: Installation
    let running: BerthProcess

    beforeAll(async () => {
      own = await startPrivateDocker({ flags: ['--live-restore'] })
      berth = await Installation.create({ dockerHost: own.host })
      running = await berth.start()
    })
    afterAll(async () => {
      await berth.dispose()
      await own.stop()
    })

    it.each(['SIGKILL', 'SIGTERM'] as const)('by %s, are whole to the byte, live and afterwards', { timeout: 180_000 }, async (signal) => {
      const half = `awk 'BEGIN { for (i = 0; i < ${LINES}; i++) printf "%0999d\\n", i }'`
      await berth.client.ended((await berth.client.submit(shellJob(berth, 'docker', half))).id)
      const script = `${half}; touch /truth/half; until [ -e /truth/go ]; do sleep 0.1; done; ${half}`
      let id = ''
      const growth = await memoryGrowth(running, async () => {
        ;({ id } = await berth.client.submit(shellJob(berth, 'docker', script)))
        const live = berth.client.log(id, 'follow=true')
        await eventually(() => existsSync(join(berth.truth, 'half')), Boolean, 60)
        // What the daemon has taken from the container and not written yet, it would lose.
        await sleep(1_000)
        await own.kill(signal)
        await sleep(1_000)
        await own.start()
        await writeFile(join(berth.truth, 'go'), '')
        expect(await berth.client.ended(id, 120)).toMatchObject({ state: 'succeeded', attempts: [{ number: 1 }] })
        const expected = twice(Buffer.from(Array.from({ length: LINES }, (_, at) => `${String(at).padStart(999, '0')}\n`).join('')))
        expect(firstDifference(await live, expected)).toBeNull()
        expect(firstDifference(await berth.client.log(id), expected)).toBeNull()
      })
      console.log(`memory grew by ${Math.round(growth / MIB)} MiB`)
      expect(growth).toBeLessThan(150 * MIB)
      expect(await berth.starts(id)).toEqual(['1/main/0'])
      await Promise.all(['half', 'go'].map((name) => rm(join(berth.truth, name))))
      await berth.untilClean()
    })
  },
)

describe.skipIf(docker.missing)('a daemon that tells 400 things in a second to somebody who does not listen (case 20)', () => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: docker.host })
    await berth.start({ serve: 'api' })
  })
  afterAll(() => berth.dispose())

  it('hides no end of a job', async () => {
    const worker = await berth.start({ serve: 'worker' })
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await berth.client.submit(shellJob(berth, 'docker', 'sleep 3; exit 7'))).id),
    )
    for (const id of ids) await berth.client.until(id, ({ state }) => state === 'running')
    worker.pause()
    const [containers] = await berth.nativeObjects()
    const engine = new Engine(docker.host)
    const from = performance.now()
    // Each is an event of a container of ours.
    for (let round = 0; round < 80; round += 1) {
      await Promise.all(
        containers.map((id) =>
          engine.call({ method: 'POST', path: `/containers/${id}/exec`, body: { Cmd: ['true'] }, signal: AbortSignal.timeout(10_000) }),
        ),
      )
    }
    console.log(`${80 * containers.length} events in ${Math.round(performance.now() - from)} ms`)
    await sleep(3_000)
    worker.resume()
    for (const id of ids) {
      expect(await berth.client.ended(id)).toMatchObject({
        state: 'failed',
        attempts: [{ number: 1, roles: [{ replicas: [{ exitCode: 7 }] }] }],
      })
      await berth.client.events(id)
      expect(await berth.starts(id)).toEqual(['1/main/0'])
    }
    await berth.untilClean()
  })
})

const twice = (bytes: Buffer): Buffer => Buffer.concat([bytes, bytes])
