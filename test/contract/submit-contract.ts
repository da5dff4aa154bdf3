import { describe, expect, test } from 'vitest'
import type { ReplicaObservation } from '../../src/domain/attempt.ts'
import { SchedulerError } from '../../src/schedulers/scheduler.ts'
import { volumeAt } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'
import { NOTHING_STAGED } from '../support/staging.ts'

const phases = (replicas: readonly ReplicaObservation[]): string[] => replicas.map(({ phase }) => phase)

const kindOf = (error: unknown): unknown => (error as SchedulerError).kind

export function submitContract({ tested, jobs }: ContractContext): void {
  describe('submit', () => {
    atMostOnce({ tested, jobs })
    outcomes({ tested, jobs })
    replicas({ tested, jobs })
  })
}

function atMostOnce({ tested, jobs }: ContractContext): void {
  test('repeated while the job runs and after it ended, starts it once', async () => {
    const volume = tested().newVolume()
    const spec = jobs().shell('echo started >> /truth/starts; sleep 0.3', { mounts: [volumeAt(volume, '/truth')] })
    await Promise.all([jobs().submit(spec), jobs().submit(spec)])
    await jobs().submit(spec)
    expect(phases(await jobs().ended(spec))).toEqual(['succeeded'])
    await jobs().submit(spec)
    expect(phases(await jobs().ended(spec))).toEqual(['succeeded'])
    expect(await jobs().read(volume, 'starts')).toBe('started\n')
  })

  test('with a higher epoch, adopts what runs and what ended, and starts nothing again', async () => {
    const volume = tested().newVolume()
    const spec = jobs().shell('echo started >> /truth/starts; sleep 0.5', { mounts: [volumeAt(volume, '/truth')] })
    await jobs().submit(spec)
    await jobs().submit({ ...spec, epoch: 2 })
    expect(phases(await jobs().ended(spec))).toEqual(['succeeded'])
    await jobs().submit({ ...spec, epoch: 7 })
    expect(phases(await jobs().ended(spec))).toEqual(['succeeded'])
    expect(await jobs().read(volume, 'starts')).toBe('started\n')
  })

  test('of a claim that was taken over, starts nothing when it comes late', async () => {
    const volume = tested().newVolume()
    const spec = jobs().shell('echo started >> /truth/starts', { mounts: [volumeAt(volume, '/truth')] })
    await jobs().complete({ ...spec, epoch: 3 })
    const late = await jobs().submit({ ...spec, epoch: 2 }).then(() => 'adopted', kindOf)
    expect(['adopted', 'conflict']).toContain(late)
    expect(phases(await jobs().ended(spec))).toEqual(['succeeded'])
    expect(await jobs().read(volume, 'starts')).toBe('started\n')
  })

  test('after its signal was aborted, makes nothing', async () => {
    const { scheduler, leftovers } = tested()
    const before = await leftovers()
    const spec = jobs().shell('true')
    const context = { signal: AbortSignal.abort(), staging: NOTHING_STAGED, progress: () => {} }
    await expect(scheduler.submit(scheduler.render(spec), context)).rejects.toBeInstanceOf(SchedulerError)
    expect(await leftovers()).toEqual(before)
  })
}

function outcomes({ jobs }: ContractContext): void {
  test('of a job that ends with 0, leads to success with its times in order', async () => {
    const before = Date.now()
    const [replica] = await jobs().complete(jobs().shell('exit 0'))
    expect(replica).toMatchObject({ role: 'main', index: 0, phase: 'succeeded', exitCode: 0, failure: null })
    const [started, ended] = [Date.parse(replica?.startedAt ?? ''), Date.parse(replica?.endedAt ?? '')]
    expect(started).toBeGreaterThanOrEqual(before - 100)
    expect(ended).toBeGreaterThanOrEqual(started)
    expect(ended).toBeLessThanOrEqual(Date.now() + 100)
    expect(replica?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('of a job that ends with another code, leads to a failure with that code', async () => {
    const [replica] = await jobs().complete(jobs().shell('exit 3'))
    expect(replica).toMatchObject({ phase: 'failed', exitCode: 3, failure: 'executor_error' })
  })

  test('of a job that kills itself, leads to a failure and not to success', async () => {
    const [replica] = await jobs().complete(jobs().shell('kill -9 $$'))
    expect(replica).toMatchObject({ phase: 'failed', exitCode: 137, failure: 'executor_error' })
  })

  test('of a command that is not there, leads to exit code 127 or to a refusal that says so', async () => {
    const spec = jobs().job([jobs().role('main', ['/no/such/command'])])
    const refusal = await jobs().submit(spec).then(() => null, (error: unknown) => error as SchedulerError)
    const [replica] = refusal === null ? await jobs().ended(spec) : []
    expect(refusal?.kind ?? `exit code ${replica?.exitCode}`).toMatch(/^(rejected|exit code 127)$/)
    expect(refusal?.failure ?? replica?.failure).toBe('executor_error')
  })

  test('gives the job its environment and working directory, and nothing of ours', async () => {
    const env = { EMPTY: '', QUOTED: `it's "so" $HOME`, LINES: 'a\nb' }
    const script = 'printf "%s|%s|%s|%s|%s" "$EMPTY" "$QUOTED" "$LINES" "$PWD" "$VITEST"'
    const spec = jobs().shell(script, { env, workingDir: '/tmp' })
    await jobs().complete(spec)
    expect((await jobs().output(spec)).toString()).toBe(`|${env.QUOTED}|a\nb|/tmp|`)
  })
}

function replicas({ tested, jobs }: ContractContext): void {
  test('starts every replica of every role, each with its own command and outcome', async () => {
    const script = 'echo "$BERTH_ROLE-$BERTH_REPLICA"; exit "$BERTH_REPLICA"'
    const roles = [jobs().role('main', ['sh', '-c', script], { replicas: 2 }), jobs().role('Other_Role', ['sh', '-c', script])]
    const spec = jobs().job(roles)
    const seen = await jobs().complete(spec)
    expect(seen.map(({ role, index, exitCode }) => [role, index, exitCode]))
      .toEqual([['main', 0, 0], ['main', 1, 1], ['Other_Role', 0, 0]])
    expect((await jobs().output(spec, { index: 1 })).toString()).toBe('main-1\n')
    expect((await jobs().output(spec, { role: 'Other_Role' })).toString()).toBe('Other_Role-0\n')
  })

  test('lets replicas find each other by host name, where the kind says so', async (context) => {
    if (!tested().scheduler.capabilities.replicaHostNames) context.skip()
    const server = 'if [ "$BERTH_REPLICA" = 0 ]; then echo hello | nc -l -p 7000; else'
    const client = 'for i in $(seq 50); do nc main-0 7000 < /dev/null && exit 0; sleep 0.1; done; exit 1; fi'
    const spec = jobs().shell(`${server} ${client}`, { replicas: 2 })
    expect(phases(await jobs().complete(spec))).toEqual(['succeeded', 'succeeded'])
    expect((await jobs().output(spec, { index: 1 })).toString()).toBe('hello\n')
  })
}
