import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import type { JobView } from '../../src/domain/job-view.ts'
import type { BerthProcess } from '../support/berth-process.ts'
import { eventually } from '../support/eventually.ts'
import type { Installation } from '../support/installation.ts'
import { shellJob } from '../support/places.ts'
import type { CrashCase } from './crash-cases.ts'
import type { Relief } from './relief.ts'

const REPLICAS = 2
/** An answer that was on its way when the process was struck has come by then. */
const ANSWER_MS = 500

/** A job in whose course a Berth is struck: killed, or made to stand still. */
export interface StruckJob {
  readonly relief: Relief
  readonly crash: CrashCase
  /** Of the job, and its idempotency key: however often it is sent, it is one job. */
  readonly name: string
}

export const newStruckJob = (relief: Relief, crash: CrashCase): StruckJob => ({ relief, crash, name: newId('job') })

interface Strike {
  readonly struck: BerthProcess
  /** Null if none came. */
  readonly answer: Promise<JobView | null>
}

/** Starts a Berth that is struck at the point, and gives it the job. @returns when it has been struck */
export async function strike(job: StruckJob, signal: 'SIGKILL' | 'SIGSTOP'): Promise<Strike> {
  const { life, point } = job.crash
  if (life === 'taken_over') expect(await (await meet(job, 'docker.create.after', 'SIGKILL')).struck.ended).toBe('SIGKILL')
  return meet(job, point, signal)
}

/** The job as the one that is left knows it: sent again if no answer has come. */
export async function acceptedJob(job: StruckJob, answer: Strike['answer']): Promise<JobView> {
  return (await Promise.race([answer, sleep(ANSWER_MS, null)])) ?? (await submit(job))
}

/** Fails unless it ran once, ended as it should, and left nothing over. */
export async function expectCameThrough({ relief, crash: { life }, name }: StruckJob, id: string): Promise<void> {
  const { berth } = relief
  const job = await berth.client.ended(id)
  await berth.untilClean()
  expect(job).toMatchObject({ state: life === 'canceled' ? 'canceled' : 'succeeded', attempts: [{ number: 1 }] })
  await berth.client.events(id)
  expect((await berth.starts(id)).sort()).toEqual(Array.from({ length: REPLICAS }, (_, index) => `1/main/${index}`))
  if (life !== 'canceled') expect((await berth.client.log(id)).toString()).toBe('done\n'.repeat(REPLICAS))
  expect((await berth.client.request('GET', `/v1/jobs?name=${name}`)).body).toMatchObject({ items: [{ id }] })
  if (life !== 'with_drives') return
  expect(await outputsOf(berth, id)).toEqual({ [`${id}/0/out`]: name, [`${id}/1/out`]: name })
  expect(await commitsOf(berth, id)).toEqual([[`${id}/0/out`], [`${id}/1/out`]])
}

async function meet(job: StruckJob, point: string, signal: 'SIGKILL' | 'SIGSTOP'): Promise<Strike> {
  const { relief, crash } = job
  const { berth } = relief
  const struck = await relief.arm(`${point}:${signal}`)
  const answer = submit(job).catch(() => null)
  if (crash.life === 'canceled') {
    const id = (await answer)?.id ?? ''
    await eventually(
      () => berth.starts(id),
      (starts) => starts.length === REPLICAS,
    )
    void berth.client.cancel(id).catch(() => undefined)
  }
  await eventually(
    () => !struck.alive() || struck.standsStill(),
    (met) => met,
    40,
  )
  return { struck, answer }
}

async function submit({ relief: { berth }, crash: { place, life }, name }: StruckJob): Promise<JobView> {
  const mounts = life === 'with_drives' ? await prepareDrives(berth, name) : []
  const script = { canceled: 'sleep 60', with_drives: 'sleep 1; cp /in/text /out/out; echo done' }[life as string] ?? 'sleep 1; echo done'
  const job = shellJob(berth, place, script, { name, replicas: REPLICAS, graceSeconds: 1 }) as {
    roles: { mounts: object[] }[]
  }
  job.roles[0]?.mounts.push(...mounts)
  return berth.client.submit(job, { 'idempotency-key': name })
}

/** Its input is this job's alone, so that no copy of an earlier one will do. */
async function prepareDrives({ client }: Installation, name: string): Promise<object[]> {
  for (const drive of ['in', 'out']) await client.request('POST', '/v1/drives', { body: { name: drive, kind: 'managed' } })
  await client.open(`/v1/drives/in/objects/${name}/text`, { method: 'PUT', body: name })
  return [
    { type: 'drive', drive: 'in', path: '/in', mode: 'copy_in', subPath: name },
    { type: 'drive', drive: 'out', path: '/out', mode: 'copy_out', subPath: '${job_id}/${replica}', onConflict: 'fail' },
  ]
}

/** What the job has put on the drive `out`, by path. */
async function outputsOf({ client }: Installation, id: string): Promise<Record<string, string>> {
  const { body } = await client.request('GET', `/v1/drives/out/objects?prefix=${id}/`)
  const texts: Record<string, string> = {}
  for (const { path } of (body as { items: { path: string }[] }).items) {
    texts[path] = (await (await client.open(`/v1/drives/out/objects/${path}`)).text()).trim()
  }
  return texts
}

/** What the drive's events say that the job has put on it. */
async function commitsOf({ client }: Installation, id: string): Promise<string[][]> {
  const { body } = await client.request('GET', '/v1/drives/out/events?limit=1000')
  const keys = (body as { items: { data: { keys: string[] } }[] }).items.map(({ data }) => data.keys)
  return keys.filter(([key]) => key?.startsWith(id)).sort(([a = ''], [b = '']) => a.localeCompare(b))
}
