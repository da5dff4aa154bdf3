import { expect, test } from 'vitest'
import type { ReplicaExit, ReplicaFacts, ReplicaStart, Stage } from '../../../../src/schedulers/local/replica-facts.ts'
import { observeReplica } from '../../../../src/schedulers/local/status.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')
const record = { installation: 'i', attemptId: 'att_1', role: 'main', index: 3, cgroups: [] }
const started: ReplicaStart = { at: AT, identity: { pid: 7, startTicks: '99', bootId: 'b' }, alive: true, sameBoot: true }
const gone: ReplicaStart = { ...started, alive: false }

const nothing: ReplicaFacts = { record, folder: '/f', forbidden: false, start: null, exit: null }
const observe = (facts: Partial<ReplicaFacts>) => observeReplica({ ...nothing, ...facts }, 'here')

function ended(code: number, more: { reached?: Stage; outOfMemory?: boolean; complaint?: string } = {}) {
  const exit: ReplicaExit = { kind: 'ended', at: AT, code, outOfMemory: false, reached: 'command', complaint: null, ...more }
  const { phase, exitCode, failure, nativeReason } = observe({ start: gone, exit }) ?? {}
  return [phase, exitCode, failure, nativeReason]
}

test('is pending until its start is taken, and then running with its identity', () => {
  expect(observe({})).toMatchObject({ role: 'main', index: 3, phase: 'pending', startedAt: null, node: 'here' })
  const running = { phase: 'running', startedAt: '2026-01-02T03:04:05.678Z', nativeId: '7-99-b', exitCode: null }
  expect(observe({ start: started })).toMatchObject(running)
})

test('is left out if it never started and must not any more', () => {
  expect(observe({ forbidden: true })).toBeNull()
  expect(observe({ start: gone, forbidden: true, exit: { kind: 'never_started' } })).toBeNull()
  expect(observe({ start: started, forbidden: true })).toMatchObject({ phase: 'running' })
})

test('is lost, never a success, if its supervisor is gone and left no outcome', () => {
  expect(observe({ start: gone })).toMatchObject({ phase: 'lost', failure: 'lost', exitCode: null, endedAt: null })
  expect(observe({ start: { ...gone, sameBoot: false } })).toMatchObject({ phase: 'lost', nativeReason: 'the machine was restarted' })
  expect(observe({ start: { ...gone, identity: null } })).toMatchObject({ phase: 'lost', nativeId: null })
})

test.each([
  [0, {}, ['succeeded', 0, null, null]],
  [3, {}, ['failed', 3, 'executor_error', null]],
  [126, {}, ['failed', 126, 'executor_error', 'the command could not be executed']],
  [127, {}, ['failed', 127, 'executor_error', 'the command was not found']],
  [137, {}, ['failed', 137, 'executor_error', 'ended by SIGKILL']],
  [143, {}, ['failed', 143, 'executor_error', 'ended by SIGTERM']],
  [255, {}, ['failed', 255, 'executor_error', null]],
  [137, { outOfMemory: true }, ['failed', 137, 'out_of_memory', 'went over its memory limit']],
  [1, { outOfMemory: true }, ['failed', 1, 'out_of_memory', 'went over its memory limit']],
  [0, { outOfMemory: true }, ['succeeded', 0, null, null]],
  [1, { reached: 'nothing', complaint: '' }, ['failed', null, 'system_error', 'its limits could not be set']],
  [1, { reached: 'limits', complaint: 'bwrap: no' }, ['failed', null, 'mount_failed', 'bwrap: no']],
  [1, { reached: 'sandbox', complaint: 'setpriv: no' }, ['failed', null, 'rejected', 'setpriv: no']],
  [0, { reached: 'limits', complaint: '' }, ['failed', null, 'mount_failed', 'its file system could not be made']],
  [137, { reached: 'limits' }, ['failed', 137, 'executor_error', 'ended by SIGKILL']],
] as const)('tells exit code %i with %j as %j', (code, more, expected) => {
  expect(ended(code, more)).toEqual(expected)
})
