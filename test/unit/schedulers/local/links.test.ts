import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readProcesses } from '../../../../src/schedulers/local/process-table.ts'
import { BenchOfJobs, handleOf, volumeAt } from '../../../contract/bench-of-jobs.ts'
import { createLocalUnderTest } from '../../../support/local.ts'
import type { LocalUnderTest } from '../../../support/local.ts'

const never = new AbortController().signal

describe('a local replica without a sandbox', () => {
  const home = mkdtempSync(join(tmpdir(), 'berth-links-'))
  let tested: LocalUnderTest
  let jobs: BenchOfJobs
  beforeAll(async () => {
    mkdirSync(join(home, 'in'))
    tested = await createLocalUnderTest('links', [{ root: home, readOnly: false }])
    jobs = new BenchOfJobs(tested, null)
  })
  afterAll(async () => {
    await tested.dispose()
    rmSync(home, { recursive: true })
  })

  test('finds its mounts below $BERTH_MOUNT_ROOT', async () => {
    const volume = volumeAt(tested.newVolume(), '/mnt/berth/data')
    const mounts = [volume, { via: 'host_path', hostPath: join(home, 'in'), path: '/mnt/berth/a/b', readOnly: false } as const]
    await jobs.complete(jobs.shell('echo treasure > $BERTH_MOUNT_ROOT/data/x; echo out > mnt/berth/a/b/y', { mounts }))
    expect(readFileSync(join(home, 'in/y'), 'utf8')).toBe('out\n')
    const reader = jobs.shell('cat $BERTH_MOUNT_ROOT/data/x', { mounts: [volume] })
    expect(await jobs.complete(reader)).toMatchObject([{ phase: 'succeeded' }])
    expect((await jobs.output(reader)).toString()).toBe('treasure\n')
  })

  test('keeps volumes when its folder with the links goes', async () => {
    const volume = volumeAt(tested.newVolume(), '/mnt/berth/data')
    const spec = jobs.shell('echo kept > mnt/berth/data/x', { mounts: [volume] })
    await jobs.complete(spec)
    await tested.scheduler.remove(handleOf(spec), never)
    expect(readFileSync(join(tested.root, 'volumes', volume.via === 'named_volume' ? volume.volume : '', 'x'), 'utf8')).toBe('kept\n')
  })

  test('says in its capabilities what it cannot do', () => {
    expect(tested.scheduler.capabilities).toMatchObject({
      mountPaths: 'linked',
      mountVia: ['named_volume', 'host_path', 'drive_directory', 'staged', 'scratch', 'reference'],
      devices: [],
    })
    expect(tested.scheduler.capabilities.limits).not.toContain('shmMiB')
  })

  test('takes what it left in its session with it, and its removal the rest', async () => {
    const spec = jobs.shell('sleep 5321 & setsid sleep 5322 > /dev/null 2>&1 & sleep 0.2; exit 3')
    expect(await jobs.complete(spec)).toMatchObject([{ exitCode: 3 }])
    expect(isRunning('sleep 5321')).toBe(false)
    await tested.scheduler.remove(handleOf(spec), never)
    expect(isRunning('sleep 5322')).toBe(false)
  })

  test('is ended with all of its processes, politely first', async () => {
    const stubborn = 'setsid sh -c "trap : TERM; while :; do sleep 5323; done" > /dev/null &'
    const script = `trap "echo bye; exit 0" TERM; ${stubborn} echo ready; while :; do sleep 0.1; done`
    const spec = jobs.shell(script, { graceSeconds: 1 })
    await jobs.submit(spec)
    for await (const _ of jobs.logs(spec)) break
    await tested.scheduler.cancel(handleOf(spec), never)
    expect(await jobs.ended(spec)).toMatchObject([{ exitCode: 0 }])
    expect((await jobs.output(spec)).toString()).toBe('ready\nbye\n')
    expect(isRunning('sleep 5323')).toBe(false)
  })

  test('that lost its supervisor is ended as it is found', async () => {
    const spec = jobs.shell('setsid sleep 5324 & exec sleep 5325')
    await jobs.submit(spec)
    await expect.poll(() => isRunning('sleep 5324') && isRunning('sleep 5325')).toBe(true)
    process.kill(Number(readFileSync(join(tested.root, 'attempts', spec.attemptId, 'main-0', 'started'), 'utf8').split(' ')[0]), 'SIGKILL')
    expect(await jobs.ended(spec)).toMatchObject([{ phase: 'lost' }])
    expect(isRunning('sleep 5324') || isRunning('sleep 5325')).toBe(false)
  })
})

function isRunning(command: string): boolean {
  return readProcesses().some(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim() === command
    } catch {
      return false
    }
  })
}
