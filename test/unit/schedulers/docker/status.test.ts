import { describe, expect, test } from 'vitest'
import { observeState, type ContainerState } from '../../../../src/schedulers/docker/status.ts'

const NEVER = '0001-01-01T00:00:00Z'
const START = '2026-01-01T00:00:00.123456789Z'
const END = '2026-01-01T00:01:00.5Z'
const daemon = { node: 'box', startedAt: '2025-12-31T00:00:00Z' }

const created: ContainerState = { Status: 'created', OOMKilled: false, ExitCode: 0, Error: '', StartedAt: NEVER, FinishedAt: NEVER }
const running: ContainerState = { ...created, Status: 'running', StartedAt: START }
const exited: ContainerState = { ...running, Status: 'exited', FinishedAt: END }

describe('the state of a container', () => {
  test.each<[string, ContainerState, object]>([
    ['never started is pending, though its exit code is 0', created, { phase: 'pending', exitCode: null, startedAt: null, failure: null }],
    ['running is running', running, { phase: 'running', exitCode: null, startedAt: '2026-01-01T00:00:00.123Z', endedAt: null }],
    ['frozen is running, and says so', { ...running, Status: 'paused' }, { phase: 'running', nativeReason: 'paused' }],
    ['ended with 0 is a success', exited, { phase: 'succeeded', exitCode: 0, endedAt: '2026-01-01T00:01:00.500Z', failure: null }],
    ['ended with 3 is a failure', { ...exited, ExitCode: 3 }, { phase: 'failed', failure: 'executor_error', nativeReason: 'exited (3)' }],
    ['killed is the job\'s failure', { ...exited, ExitCode: 137 }, { phase: 'failed', exitCode: 137, failure: 'executor_error' }],
    ['killed for memory says so', { ...exited, ExitCode: 137, OOMKilled: true }, { phase: 'failed', failure: 'out_of_memory' }],
    ['with a child killed for memory is a success if it says so', { ...exited, OOMKilled: true }, { phase: 'succeeded', failure: null }],
    ['with an error of the daemon is lost, though its code is 0', { ...exited, Error: 'shim died' }, { phase: 'lost', failure: 'lost' }],
    ['ended at no time is lost', { ...exited, FinishedAt: NEVER }, { phase: 'lost', failure: 'lost' }],
    ['exited but never started is pending', { ...created, Status: 'exited' }, { phase: 'pending', exitCode: null, failure: null }],
    ['being removed after its end keeps its outcome', { ...exited, Status: 'removing', ExitCode: 1 }, { phase: 'failed', exitCode: 1 }],
    ['being removed before its start is pending', { ...created, Status: 'removing' }, { phase: 'pending' }],
    ['dead after its end keeps its outcome', { ...exited, Status: 'dead' }, { phase: 'succeeded' }],
    ['dead before its start is lost', { ...created, Status: 'dead' }, { phase: 'lost', failure: 'lost' }],
    ['that nobody knows is pending', { ...exited, Status: 'dreaming' }, { phase: 'pending', failure: null }],
  ])('%s', (_, state, expected) => {
    expect(observeState(state, daemon)).toMatchObject({ node: 'box', ...expected })
  })

  test.each([137, 143, 255])('ended with %i before the daemon was started is lost, since the daemon may have ended it', (ExitCode) => {
    const later = { node: 'box', startedAt: '2026-01-01T00:05:00Z' }
    expect(observeState({ ...exited, ExitCode }, later)).toMatchObject({ phase: 'lost', exitCode: ExitCode, failure: 'lost' })
  })

  test.each([[0, 'succeeded'], [1, 'failed']])('ended with %i before the daemon was started has %s by itself', (ExitCode, phase) => {
    expect(observeState({ ...exited, ExitCode }, { node: 'box', startedAt: '2026-01-01T00:05:00Z' }).phase).toBe(phase)
  })

  test('never ends before it starts, though a daemon may note it so', () => {
    const state = { ...exited, StartedAt: '2026-01-01T00:00:00.291Z', FinishedAt: '2026-01-01T00:00:00.290Z' }
    expect(observeState(state, daemon)).toMatchObject({ startedAt: '2026-01-01T00:00:00.291Z', endedAt: '2026-01-01T00:00:00.291Z' })
  })
})
