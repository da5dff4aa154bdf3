import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import type { JobView } from '../../src/domain/job-view.ts'
import { eventually } from '../support/eventually.ts'
import { requirePlaces, shellJob } from '../support/places.ts'
import { CRASH_CASES, POINTS_OF_ARCHIVE, POINTS_OF_WEBHOOKS, type CrashCase } from './crash-cases.ts'
import { ReliefPool, type Relief } from './relief.ts'

const REPLICAS = 2
/** A lease of 8 s, the sweeper's second, and a busy machine. */
const TAKEOVER_MS = 20_000

const need = requirePlaces()
const pool = new ReliefPool(need.host)
const takeovers: { crash: CrashCase; ms: number }[] = []

describe('the list of crash points', () => {
  it('is complete: each that stands in src is passed by a case', () => {
    const src = fileURLToPath(new URL('../../src', import.meta.url))
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    const named = files.flatMap((path) =>
      [...readFileSync(`${src}/${path}`, 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)].map(([, name]) => name),
    )
    expect(new Set([...CRASH_CASES.map(({ point }) => point), ...POINTS_OF_WEBHOOKS, ...POINTS_OF_ARCHIVE])).toEqual(new Set(named))
  })
})

describe.skipIf(need.missing).concurrent('a Berth that is killed', () => {
  afterAll(async () => {
    await pool.dispose()
    const sorted = takeovers.map(({ ms }) => ms).sort((a, b) => a - b)
    console.log(
      `${sorted.length} takeovers: median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`,
    )
  })

  it.for(CRASH_CASES)('at $point, in the course of a job that is $life on $place, has it run once and leaves nothing over', (crash) =>
    pool.use((relief) => survive(relief, crash)),
  )
})

async function survive(relief: Relief, crash: CrashCase): Promise<void> {
  const { berth } = relief
  const name = newId('job')
  if (crash.life === 'taken_over') await dieIn(relief, 'docker.create.after', { ...crash, name })
  const accepted = await dieIn(relief, crash.point, { ...crash, name })
  relief.relieve()
  const { id } = accepted ?? (await submit(relief, { ...crash, name }))
  const ms = await relief.takeover(id)
  takeovers.push({ crash, ms })
  const job = await berth.client.ended(id)
  await berth.untilClean()
  expect(job).toMatchObject({ state: crash.life === 'canceled' ? 'canceled' : 'succeeded', attempts: [{ number: 1 }] })
  await berth.client.events(id)
  expect((await berth.starts(id)).sort()).toEqual(Array.from({ length: REPLICAS }, (_, index) => `1/main/${index}`))
  if (crash.life !== 'canceled') expect((await berth.client.log(id)).toString()).toBe('done\n'.repeat(REPLICAS))
  expect((await berth.client.request('GET', `/v1/jobs?name=${name}`)).body).toMatchObject({ items: [{ id }] })
  if (crash.life === 'with_drives') {
    expect(await outputsOf(relief, id)).toEqual({ [`${id}/0/out`]: name, [`${id}/1/out`]: name })
    expect(await commitsOf(relief, id)).toEqual([[`${id}/0/out`], [`${id}/1/out`]])
  }
  expect(ms).toBeLessThan(TAKEOVER_MS)
}

/** What the job has put on the drive `out`, by path. */
async function outputsOf({ berth }: Relief, id: string): Promise<Record<string, string>> {
  const { body } = await berth.client.request('GET', `/v1/drives/out/objects?prefix=${id}/`)
  const texts: Record<string, string> = {}
  for (const { path } of (body as { items: { path: string }[] }).items) {
    texts[path] = (await (await berth.client.open(`/v1/drives/out/objects/${path}`)).text()).trim()
  }
  return texts
}

/** What the drive's events say that the job has put on it. */
async function commitsOf({ berth }: Relief, id: string): Promise<string[][]> {
  const { body } = await berth.client.request('GET', '/v1/drives/out/events?limit=1000')
  const keys = (body as { items: { data: { keys: string[] } }[] }).items.map(({ data }) => data.keys)
  return keys.filter(([key]) => key?.startsWith(id)).sort(([a = ''], [b = '']) => a.localeCompare(b))
}

interface NamedCase extends CrashCase {
  /** Of the job, and its idempotency key: however often it is sent, it is one job. */
  readonly name: string
}

/** Starts a Berth that dies at the point, and gives it what it dies of. @returns the job, unless the answer got lost */
async function dieIn(relief: Relief, point: string, crash: NamedCase): Promise<JobView | null> {
  const armed = await relief.arm(point)
  const job = await submit(relief, crash).catch(() => null)
  if (job && crash.life === 'canceled') {
    await eventually(
      () => relief.berth.starts(job.id),
      (starts) => starts.length === REPLICAS,
    )
    await relief.berth.client.cancel(job.id)
  }
  await eventually(
    () => armed.alive(),
    (alive) => !alive,
    40,
  )
  expect(await armed.ended).toBe('SIGKILL')
  return job
}

/** Its input is this job's alone, so that no copy of an earlier one will do. */
async function prepareDrives({ berth }: Relief, name: string): Promise<object[]> {
  for (const drive of ['in', 'out']) await berth.client.request('POST', '/v1/drives', { body: { name: drive, kind: 'managed' } })
  await berth.client.open(`/v1/drives/in/objects/${name}/text`, { method: 'PUT', body: name })
  return [
    { type: 'drive', drive: 'in', path: '/in', mode: 'copy_in', subPath: name },
    { type: 'drive', drive: 'out', path: '/out', mode: 'copy_out', subPath: '${job_id}/${replica}', onConflict: 'fail' },
  ]
}

async function submit(relief: Relief, { place, life, name }: NamedCase): Promise<JobView> {
  const { berth } = relief
  if (life === 'with_drives') {
    const mounts = await prepareDrives(relief, name)
    const job = shellJob(berth, place, 'sleep 1; cp /in/text /out/out; echo done', { name, replicas: REPLICAS, graceSeconds: 1 }) as {
      roles: { mounts: object[] }[]
    }
    job.roles[0]?.mounts.push(...mounts)
    return berth.client.submit(job, { 'idempotency-key': name })
  }
  const script = life === 'canceled' ? 'sleep 60' : 'sleep 1; echo done'
  return berth.client.submit(shellJob(berth, place, script, { name, replicas: REPLICAS, graceSeconds: 1 }), { 'idempotency-key': name })
}
