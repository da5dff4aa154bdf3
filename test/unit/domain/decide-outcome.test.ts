import { describe, expect, test } from 'vitest'
import type { ReplicaObservation } from '../../../src/domain/attempt.ts'
import { decideOutcome, type Decision, type OutcomeFacts, type Stop } from '../../../src/domain/decide-outcome.ts'

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.500Z`

const seen = (index: number, fields: Partial<ReplicaObservation>): ReplicaObservation => ({
  role: 'trainer',
  index,
  phase: 'running',
  exitCode: null,
  startedAt: at(0),
  endedAt: null,
  node: null,
  nativeId: null,
  nativeReason: null,
  failure: null,
  ...fields,
})
const running = (index: number) => seen(index, {})
const succeeded = (index: number, second: number) => seen(index, { phase: 'succeeded', exitCode: 0, endedAt: at(second) })
const failed = (index: number, second: number, exitCode = 1) =>
  seen(index, { phase: 'failed', exitCode, endedAt: at(second), failure: 'executor_error' })
const lost = (index: number, second?: number) =>
  seen(index, { phase: 'lost', endedAt: second === undefined ? null : at(second), failure: 'lost', nativeReason: 'gone' })

const decide = (observations: readonly ReplicaObservation[], fields: Partial<OutcomeFacts> = {}): Decision =>
  decideOutcome({
    roles: [{ name: 'trainer', replicas: observations.length }],
    observations,
    stop: null,
    onReplicaFailure: 'cancel_others',
    timeoutSeconds: 60,
    ...fields,
  })
const ended = (result: string, reason: string | null, detail: string | null) => ({ kind: 'ended', outcome: { result, reason, detail } })
const canceled = (second: number | null): Stop => ({ reason: 'canceled', at: second === null ? null : at(second) })
const timedOut = (second: number): Stop => ({ reason: 'timed_out', at: at(second) })
const replicaFailed: Stop = { reason: 'replica_failed', at: null }

const SUCCESS = ended('succeeded', null, null)
const CANCELED = ended('canceled', null, 'canceled on request')
const TIMED_OUT = ended('failed', 'timed_out', 'ran longer than 60 s')

describe('an attempt goes on', () => {
  test('while a replica runs, waits or has not been seen', () => {
    expect(decide([succeeded(0, 1), running(1)])).toEqual({ kind: 'wait' })
    expect(decide([succeeded(0, 1), seen(1, { phase: 'pending' })])).toEqual({ kind: 'wait' })
    expect(decide([succeeded(0, 1)], { roles: [{ name: 'trainer', replicas: 2 }] })).toEqual({ kind: 'wait' })
    expect(decide([], { roles: [{ name: 'trainer', replicas: 1 }] })).toEqual({ kind: 'wait' })
  })

  test('when a replica has failed, if the others are to go on', () => {
    expect(decide([failed(0, 1), running(1)], { onReplicaFailure: 'wait' })).toEqual({ kind: 'wait' })
  })

  test('while what is being stopped still runs', () => {
    for (const stop of [canceled(1), timedOut(1), replicaFailed])
      expect(decide([failed(0, 2), running(1)], { stop })).toEqual({ kind: 'wait' })
  })

  test('to its end when a replica of another role has the same index', () => {
    const roles = [
      { name: 'trainer', replicas: 1 },
      { name: 'reader', replicas: 1 },
    ]
    expect(decide([succeeded(0, 1), { ...running(0), role: 'reader' }], { roles })).toEqual({ kind: 'wait' })
    expect(decide([succeeded(0, 1), { ...succeeded(0, 1), role: 'reader' }], { roles })).toEqual(SUCCESS)
  })
})

describe('the first failed replica', () => {
  test.each([
    ['failed', failed(0, 1)],
    ['lost', lost(0)],
  ])('that is %s ends the others, if they are to be ended', (_, first) => {
    expect(decide([first, running(1)])).toEqual({ kind: 'stop', reason: 'replica_failed' })
  })

  test('gives reason and detail when all have ended, not the first in order', () => {
    expect(decide([failed(0, 9), failed(1, 2, 3), succeeded(2, 1)])).toEqual(
      ended('failed', 'executor_error', 'trainer/1 ended with exit code 3'),
    )
  })

  test('is told from those that were killed because of it', () => {
    const outcome = ended('failed', 'executor_error', 'trainer/1 ended with exit code 3')
    expect(decide([failed(0, 2, 143), failed(1, 5, 3), failed(2, 6, 137)], { stop: replicaFailed })).toEqual(outcome)
  })

  test('may be a lost one, when the others were killed because of it', () => {
    expect(decide([failed(0, 2, 143), lost(1)], { stop: replicaFailed })).toMatchObject({ outcome: { result: 'failed', reason: 'lost' } })
  })

  test('may itself have been killed', () => {
    const outcome = ended('failed', 'executor_error', 'trainer/1 ended with exit code 137')
    expect(decide([failed(0, 3, 143), failed(1, 2, 137)], { stop: replicaFailed })).toEqual(outcome)
  })

  test('may have run out of memory, which is no sign of a stop', () => {
    const oom = seen(1, { phase: 'failed', exitCode: 137, endedAt: at(2), failure: 'out_of_memory' })
    expect(decide([failed(0, 3, 1), oom], { stop: replicaFailed })).toEqual(
      ended('failed', 'out_of_memory', 'trainer/1: a replica was ended because it went over its memory limit'),
    )
  })

  test('is found by time, whatever the precision of the clock', () => {
    const early = { ...failed(0, 1, 4), endedAt: '2026-01-01T00:00:05Z' }
    const late = { ...failed(1, 1, 5), endedAt: '2026-01-01T00:00:05.000000001Z' }
    const later = { ...failed(2, 1, 6), endedAt: '2026-01-01T00:00:05.9Z' }
    expect(decide([later, early, late].map((replica, index) => ({ ...replica, index })))).toMatchObject({
      outcome: { detail: 'trainer/1 ended with exit code 4' },
    })
  })

  test("is told in the scheduler's own words where there is no exit code", () => {
    const pull = seen(0, { phase: 'failed', endedAt: at(1), failure: 'image_pull_failed', nativeReason: 'no such image: nope' })
    expect(decide([pull])).toEqual(
      ended('failed', 'image_pull_failed', 'trainer/0: an image could not be found or fetched (no such image: nope)'),
    )
    expect(decide([lost(0)])).toMatchObject({ outcome: { result: 'failed', reason: 'lost', detail: expect.stringContaining('(gone)') } })
  })
})

describe('all replicas have ended well', () => {
  test('is a success', () => {
    expect(decide([succeeded(0, 1), succeeded(1, 2)])).toEqual(SUCCESS)
  })

  test('stays one if they had when the stop was asked for', () => {
    for (const stop of [canceled(5), timedOut(5)]) expect(decide([succeeded(0, 1), succeeded(1, 5)], { stop })).toEqual(SUCCESS)
    expect(decide([succeeded(0, 1)], { stop: canceled(null) })).toEqual(SUCCESS)
  })

  test('is none if one of them was stopped and took it politely', () => {
    expect(decide([succeeded(0, 1), succeeded(1, 6)], { stop: canceled(5) })).toEqual(CANCELED)
    expect(decide([succeeded(0, 1), succeeded(1, 6)], { stop: timedOut(5) })).toEqual(TIMED_OUT)
  })
})

describe('a cancel', () => {
  test('makes the attempt canceled when everything has ended', () => {
    expect(decide([failed(0, 6, 143), failed(1, 7, 137), succeeded(2, 1)], { stop: canceled(5) })).toEqual(CANCELED)
    expect(decide([lost(0), lost(1)], { stop: canceled(5) })).toEqual(CANCELED)
    expect(decide([failed(0, 6, 143)], { stop: canceled(null) })).toEqual(CANCELED)
  })

  test('does not hide what failed before it', () => {
    expect(decide([failed(0, 4, 3), failed(1, 6, 143)], { stop: canceled(5) })).toEqual(
      ended('failed', 'executor_error', 'trainer/0 ended with exit code 3'),
    )
  })
})

describe('a time-out', () => {
  test('is the reason when what was left has ended', () => {
    expect(decide([failed(0, 6, 143), succeeded(1, 1)], { stop: timedOut(5) })).toEqual(TIMED_OUT)
    expect(decide([failed(0, 6, 1)], { stop: timedOut(5) })).toEqual(TIMED_OUT)
  })

  test('does not hide what failed before it', () => {
    expect(decide([failed(0, 4, 3), failed(1, 6, 143)], { stop: timedOut(5) })).toMatchObject({ outcome: { reason: 'executor_error' } })
  })
})
