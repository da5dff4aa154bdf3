export const JOB_STATES = ['queued', 'starting', 'pending', 'running', 'finishing', 'canceling', 'succeeded', 'failed', 'canceled'] as const
export type JobState = (typeof JOB_STATES)[number]

/**
 * The legal moves: `MOVES[to]` are the states it may come from. A move to the same state records a new reason.
 * Terminal states are in nobody's list of sources: they are written once.
 */
export const MOVES = {
  queued: ['starting', 'pending', 'running', 'finishing'],
  starting: ['queued', 'starting'],
  pending: ['starting', 'pending'],
  running: ['starting', 'pending', 'running'],
  finishing: ['starting', 'pending', 'running', 'finishing'],
  canceling: ['queued', 'starting', 'pending', 'running', 'canceling'],
  succeeded: ['finishing', 'canceling'],
  failed: ['queued', 'starting', 'finishing', 'canceling'],
  canceled: ['queued', 'finishing', 'canceling'],
} as const satisfies Record<JobState, readonly JobState[]>

export const TERMINAL_STATES = ['succeeded', 'failed', 'canceled'] as const
export type TerminalState = (typeof TERMINAL_STATES)[number]

export const isTerminal = (state: JobState): state is TerminalState => (TERMINAL_STATES as readonly JobState[]).includes(state)

export const isLegalMove = (from: JobState, to: JobState): boolean => (MOVES[to] as readonly JobState[]).includes(from)
