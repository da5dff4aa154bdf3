import { describe, expect, test } from 'vitest'
import { handleOf, volumeAt } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'

const never = (): AbortSignal => new AbortController().signal

export function cancelAndRemoveContract({ tested, jobs }: ContractContext): void {
  describe('cancel', () => cancelContract({ tested, jobs }))
  describe('remove', () => removeContract({ tested, jobs }))
}

function cancelContract({ tested, jobs }: ContractContext): void {
  test('asks politely first, so that the job can end by itself', async () => {
    const volume = tested().newVolume()
    const script = 'trap "echo bye > /truth/last; exit 0" TERM; echo ready; while :; do sleep 0.1; done'
    const spec = jobs().shell(script, { mounts: [volumeAt(volume, '/truth')], graceSeconds: 20 })
    await jobs().submit(spec)
    for await (const _ of jobs().logs(spec)) break
    await tested().scheduler.cancel(handleOf(spec), never())
    expect(await jobs().ended(spec)).toMatchObject([{ phase: 'succeeded', exitCode: 0 }])
    expect(await jobs().read(volume, 'last')).toBe('bye\n')
  })

  test('ends a job that ignores SIGTERM, with all of its children, after the grace (case 33)', async () => {
    const volume = tested().newVolume()
    const script = 'trap "" TERM; (while :; do echo x >> /truth/beat; sleep 0.1; done) & echo ready; while :; do sleep 0.1; done'
    const spec = jobs().shell(script, { mounts: [volumeAt(volume, '/truth')], graceSeconds: 1 })
    await jobs().submit(spec)
    for await (const _ of jobs().logs(spec)) break
    const asked = Date.now()
    await tested().scheduler.cancel(handleOf(spec), never())
    expect(Date.now() - asked).toBeGreaterThan(900)
    expect(await jobs().ended(spec)).toMatchObject([{ phase: 'failed', exitCode: 137, failure: 'executor_error' }])
    const beats = await jobs().read(volume, 'beat')
    expect(await jobs().read(volume, 'beat')).toBe(beats)
  })

  test('ends all replicas at the same time, and may be repeated', async () => {
    const spec = jobs().shell('trap "" TERM; while :; do sleep 0.1; done', { replicas: 3, graceSeconds: 1 })
    await jobs().submit(spec)
    const cancel = (): Promise<void> => tested().scheduler.cancel(handleOf(spec), never())
    await Promise.all([cancel(), cancel()])
    await cancel()
    expect((await jobs().ended(spec)).map(({ phase }) => phase)).toEqual(['failed', 'failed', 'failed'])
  })

  test('of what has ended, or was never there, changes nothing', async () => {
    const spec = jobs().shell('true')
    await jobs().complete(spec)
    await tested().scheduler.cancel(handleOf(spec), never())
    expect(await jobs().ended(spec)).toMatchObject([{ phase: 'succeeded', exitCode: 0 }])
    await tested().scheduler.cancel(handleOf(jobs().shell('true')), never())
  })
}

function removeContract({ tested, jobs }: ContractContext): void {
  test('leaves alone what still runs', async () => {
    const spec = jobs().shell('sleep 30')
    await jobs().submit(spec)
    expect(await tested().scheduler.remove(handleOf(spec), never())).toBe(false)
    expect(await jobs().running(spec)).toHaveLength(1)
    await tested().scheduler.cancel(handleOf(spec), never())
  })

  test('leaves nothing over but the volumes', async () => {
    const volume = tested().newVolume()
    const before = await tested().leftovers()
    const script = 'echo kept > /truth/$BERTH_REPLICA'
    const spec = jobs().shell(script, { replicas: 2, mounts: [volumeAt(volume, '/truth')] })
    await jobs().complete(spec)
    expect(await tested().leftovers()).not.toEqual(before)
    expect(await tested().scheduler.remove(handleOf(spec), never())).toBe(true)
    expect(await tested().leftovers()).toEqual(before)
    expect(await jobs().read(volume, '1')).toBe('kept\n')
  })

  test('of what was never there, or is gone already, is fine', async () => {
    const spec = jobs().shell('true')
    await jobs().complete(spec)
    await Promise.all([tested().scheduler.remove(handleOf(spec), never()), tested().scheduler.remove(handleOf(spec), never())])
    expect(await tested().scheduler.remove(handleOf(spec), never())).toBe(true)
    expect(await jobs().output(spec)).toHaveLength(0)
  })
}
