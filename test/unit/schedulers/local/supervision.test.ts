import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptSpec } from '../../../../src/domain/attempt.ts'
import { detectIsolation } from '../../../../src/schedulers/local/local-scheduler.ts'
import { readProcesses } from '../../../../src/schedulers/local/process-table.ts'
import { BenchOfJobs, handleOf, patience, volumeAt } from '../../../contract/bench-of-jobs.ts'
import { createLocalUnderTest } from '../../../support/local.ts'
import type { LocalUnderTest } from '../../../support/local.ts'
import { requireProgram } from '../../../support/requirements.ts'
import type { Order } from './crashing-worker.ts'

const never = new AbortController().signal
const bubblewrap = requireProgram('bwrap')

describe.skipIf(bubblewrap.missing || await detectIsolation() === 'links')('a local replica', { timeout: 40_000 }, () => {
  let tested: LocalUnderTest
  let jobs: BenchOfJobs
  beforeAll(async () => {
    tested = await createLocalUnderTest('bubblewrap')
    jobs = new BenchOfJobs(tested, null)
  })
  afterAll(() => tested.dispose())

  const folderOf = (spec: AttemptSpec): string => join(tested.root, 'attempts', spec.attemptId, 'main-0')
  const supervisorOf = (spec: AttemptSpec): number => Number(readFileSync(join(folderOf(spec), 'started'), 'utf8').split(' ')[0])
  const isRunning = (command: string): boolean => readProcesses().some(({ pid }) => commandLine(pid) === command)

  function worker(point: string, order: Partial<Order>): ChildProcess {
    const whole: Order = { root: tested.root, installation: tested.installation, submit: null, cancel: null, ...order }
    const script = fileURLToPath(new URL('./crashing-worker.ts', import.meta.url))
    return spawn(process.execPath, ['--import', 'tsx', script, point, JSON.stringify(whole)], { stdio: ['ignore', 'pipe', 'inherit'] })
  }

  test.each(['local.prepare.before', 'local.start.before', 'local.start.after'])(
    'runs exactly once when its worker dies at %s and another takes over', async (point) => {
      const volume = tested.newVolume()
      const spec = jobs.shell('echo started >> /truth/starts', { mounts: [volumeAt(volume, '/truth')] })
      expect(await once(worker(point, { submit: spec }), 'exit')).toEqual([null, 'SIGKILL'])
      expect(await jobs.complete({ ...spec, epoch: 2 })).toMatchObject([{ phase: 'succeeded' }])
      expect(await jobs.read(volume, 'starts')).toBe('started\n')
    })

  test.each(['local.prepare.before', 'local.prepare.after', 'local.start.before'])(
    'does not run when its worker is parked at %s, and wakes after it was canceled and removed', async (point) => {
      const before = await tested.leftovers()
      const volume = tested.newVolume()
      const spec = jobs.shell('echo started >> /truth/starts', { mounts: [volumeAt(volume, '/truth')] })
      const parked = worker(`${point}:SIGSTOP`, { submit: spec })
      await expect.poll(() => stateOf(parked.pid), { timeout: 10_000 }).toBe('T')
      await tested.scheduler.cancel(handleOf(spec), never)
      await tested.scheduler.remove(handleOf(spec), never)
      parked.kill('SIGCONT')
      expect(await text(parked.stdout!)).toContain('"kind":"conflict"')
      expect(await jobs.everything()).not.toContain(spec.attemptId)
      expect(await tested.leftovers()).toEqual(before)
      expect(await jobs.read(volume, 'starts')).toBe('')
    })

  test('does not run when its worker is parked before the start, and wakes after it was canceled', async () => {
    const spec = jobs.shell('true')
    const parked = worker('local.start.before:SIGSTOP', { submit: spec })
    await expect.poll(() => stateOf(parked.pid), { timeout: 10_000 }).toBe('T')
    await tested.scheduler.cancel(handleOf(spec), never)
    parked.kill('SIGCONT')
    expect(await text(parked.stdout!)).toBe('done\n')
    await expect.poll(() => readFileSync(join(folderOf(spec), 'exit'), 'utf8')).toBe('canceled\n')
    expect(await jobs.everything()).not.toContain(spec.attemptId)
  })

  test('that was only canceled before it started, never starts and is not observed', async () => {
    const spec = jobs.shell('true')
    await tested.scheduler.cancel(handleOf(spec), never)
    await expect(jobs.submit(spec)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await jobs.everything()).not.toContain(spec.attemptId)
  })

  test('ends with its supervisor, and is then lost', async () => {
    const spec = jobs.shell('exec sleep 4321')
    await jobs.submit(spec)
    await expect.poll(() => isRunning('sleep 4321')).toBe(true)
    process.kill(supervisorOf(spec), 'SIGKILL')
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'lost', failure: 'lost', exitCode: null, endedAt: null }])
    await expect.poll(() => isRunning('sleep 4321')).toBe(false)
    expect(await jobs.output(spec)).toHaveLength(0)
  })

  test('of another boot of the machine is lost, whatever has its process id now', async () => {
    const spec = jobs.shell('true')
    await jobs.complete(spec)
    rmSync(join(folderOf(spec), 'exit'))
    writeFileSync(join(folderOf(spec), 'started'), `${process.pid} 1 00000000-0000-0000-0000-000000000000\n`)
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'lost', nativeReason: 'the machine was restarted' }])
    await tested.scheduler.cancel(handleOf(spec), never)
  })

  test.each(['', '0', '0 -', 'junk'])('with only %j of its outcome left by a power cut is lost, not a success', async (rest) => {
    const spec = jobs.shell('true')
    await jobs.complete(spec)
    writeFileSync(join(folderOf(spec), 'exit'), rest)
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'lost', exitCode: null }])
  })

  test('that can never start any more is swept away, as is what was half deleted', async () => {
    const before = await tested.leftovers()
    const spec = jobs.shell('true')
    await once(worker('local.prepare.after', { submit: spec }), 'exit')
    await tested.scheduler.cancel(handleOf(spec), never)
    mkdirSync(join(tested.root, 'trash', 'half', 'deleted'), { recursive: true })
    await jobs.everything()
    expect(await tested.leftovers()).toEqual(before)
  })

  test('takes all that it started with it, also what went into a session of its own', async () => {
    const spec = jobs.shell('setsid sleep 4322 & sleep 0.2; exit 5')
    expect(await jobs.complete(spec)).toMatchObject([{ exitCode: 5 }])
    expect(isRunning('sleep 4322')).toBe(false)
    const canceled = jobs.shell('setsid sleep 4323 & trap "" TERM; while :; do sleep 0.1; done', { graceSeconds: 0 })
    await jobs.submit(canceled)
    await expect.poll(() => isRunning('sleep 4323')).toBe(true)
    await tested.scheduler.cancel(handleOf(canceled), never)
    expect(isRunning('sleep 4323')).toBe(false)
  })

  test('outlives its worker', async () => {
    const spec = jobs.shell('sleep 1; echo survived')
    const owner = worker('none', { submit: spec })
    expect(await text(owner.stdout!)).toBe('done\n')
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'succeeded' }])
    expect((await jobs.output(spec)).toString()).toBe('survived\n')
  })

  test('may open its output anew without cutting it short', async () => {
    const spec = jobs.shell('echo one; echo two > /dev/stdout; echo three')
    await jobs.complete(spec)
    expect((await jobs.output(spec)).toString()).toBe('one\ntwo\nthree\n')
  })

  test('sees neither our folders nor our processes, and cannot write outside of its places', async () => {
    const look = `ls ${tested.root} /proc/${process.pid} 2>&1 | grep -c "No such"`
    const spec = jobs.shell(`${look}; touch /usr/x /etc/x /x 2>&1 | grep -c Read-only; pwd; ls -A | wc -l`)
    await jobs.complete(spec)
    expect((await jobs.output(spec)).toString()).toBe('2\n3\n/berth/work\n0\n')
  })

  test('leaves no secret in the arguments of any process, nor on the disk once it runs', async () => {
    const spec = jobs.shell('sleep 5', { env: { TOKEN: 'hush-4324' } })
    await jobs.submit(spec)
    await expect.poll(() => isRunning('sleep 5')).toBe(true)
    expect(readProcesses().filter(({ pid }) => commandLine(pid).includes('hush-4324'))).toEqual([])
    expect(() => readFileSync(join(folderOf(spec), 'launch'))).toThrow('ENOENT')
    await tested.scheduler.cancel({ ...handleOf(spec), graceSeconds: 0 }, never)
  })

  test('that was refused a mount fails with the words of the refusal', async () => {
    const mounts = [{ via: 'tmpfs', path: '/etc/passwd', sizeMiB: 1, readOnly: false } as const]
    const [replica] = await jobs.complete(jobs.shell('true', { mounts }))
    expect(replica).toMatchObject({ phase: 'failed', failure: 'mount_failed', exitCode: null })
    expect(replica?.nativeReason).toMatch(/^bwrap: /)
  })

  test('is one of two hundred in quick succession', async () => {
    const specs = Array.from({ length: 200 }, (_, index) => jobs.shell(`echo ${index}`))
    await Promise.all(specs.map((spec) => jobs.submit(spec)))
    const stop = new AbortController()
    const succeeded = new Set<string>()
    for await (const { attempts } of tested.scheduler.observe(stop.signal)) {
      for (const { attemptId, replicas } of attempts) if (replicas.every(({ phase }) => phase === 'succeeded')) succeeded.add(attemptId)
      if (specs.every(({ attemptId }) => succeeded.has(attemptId))) break
    }
    stop.abort()
    expect((await jobs.output(specs[199]!)).toString()).toBe('199\n')
    await Promise.all(specs.map((spec) => tested.scheduler.remove(handleOf(spec), never)))
  })

  test('of an aborted claim is not started', async () => {
    const spec = jobs.shell('true')
    const { scheduler } = tested
    const submitted = scheduler.submit(scheduler.render(spec), { ...patience(), signal: AbortSignal.abort() })
    await expect(submitted).rejects.toMatchObject({ kind: 'conflict' })
  })
})

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
  } catch {
    return ''
  }
}

function stateOf(pid: number | undefined): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? ''
}
