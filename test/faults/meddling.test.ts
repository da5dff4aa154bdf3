import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { Installation } from '../support/installation.ts'
import { shellJob } from '../support/places.ts'
import { requireDocker } from '../support/requirements.ts'

const docker = requireDocker()

describe.skipIf(docker.missing)('a container with which somebody meddles (case 21)', () => {
  let berth: Installation
  const engine = new Engine(docker.host)

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: docker.host })
    await berth.start()
  })
  afterAll(() => berth.dispose())

  /** A job of one container that runs. */
  const running = async (script: string): Promise<{ readonly id: string; readonly container: string }> => {
    const { id } = await berth.client.submit(shellJob(berth, 'docker', script, { retries: { max: 0, backoffSeconds: 0 } }))
    await berth.client.until(id, ({ state }) => state === 'running')
    const [[container = '']] = await berth.nativeObjects()
    return { id, container }
  }
  const meddle = (path: string, query: Record<string, string> = {}) =>
    engine.call({ method: 'POST', path, query, signal: AbortSignal.timeout(20_000) })

  /** Does it while Berth stands still, for less than a claim lasts. */
  const unseen = async (act: () => Promise<unknown>): Promise<void> => {
    const watching = berth.processes.at(-1)
    watching?.pause()
    await act()
    watching?.resume()
  }

  it('that is renamed stays what it is', async () => {
    const { id, container } = await running('echo before; sleep 15; echo after; exit 7')
    await meddle(`/containers/${container}/rename`, { name: `somebody-${id}` })
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({
      state: 'failed',
      reason: 'executor_error',
      attempts: [{ number: 1, roles: [{ replicas: [{ exitCode: 7 }] }] }],
    })
    expect((await berth.client.log(id)).toString()).toBe('before\nafter\n')
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    await berth.untilClean()
  })

  it('that is renamed can be canceled, also by another worker', async () => {
    const { id, container } = await running('sleep 60')
    await meddle(`/containers/${container}/rename`, { name: `somebody-${id}` })
    await berth.processes.at(-1)?.kill()
    await berth.start()
    await berth.client.cancel(id)
    expect(await berth.client.ended(id)).toMatchObject({ state: 'canceled', attempts: [{ number: 1 }] })
    await berth.untilClean()
  })

  it('that is ended and started again has one end, and does not run on behind it', async () => {
    const { id, container } = await running('sleep 60')
    await meddle(`/containers/${container}/restart`, { t: '0' })
    expect(await berth.client.ended(id)).toMatchObject({ state: 'failed', attempts: [{ number: 1 }] })
    await berth.client.events(id)
    await berth.untilClean()
  })

  it('that is started again while nobody looks is told to have run more than once', async () => {
    const { id, container } = await running('sleep 6; exit 7')
    await unseen(async () => {
      await sleep(1_500)
      await meddle(`/containers/${container}/restart`, { t: '0' })
    })
    await berth.client.until(id, ({ reason }) => reason === 'restarted')
    expect(await berth.client.ended(id)).toMatchObject({ state: 'failed', attempts: [{ roles: [{ replicas: [{ exitCode: 7 }] }] }] })
    await berth.untilClean()
  })

  it('that is removed while nobody looks is lost, and the job is tried again', async () => {
    const { id, container } = await running('[ "$BERTH_ATTEMPT" = 2 ] || sleep 60')
    const removal = { method: 'DELETE', path: `/containers/${container}`, query: { force: true } } as const
    await unseen(() => engine.call({ ...removal, signal: AbortSignal.timeout(20_000) }))
    const { state, attempts } = await berth.client.ended(id)
    expect([state, ...attempts.map(({ reason }) => reason)]).toEqual(['succeeded', 'lost', null])
    await berth.untilClean()
  })
})
