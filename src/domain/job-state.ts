export const JOB_STATES = ['queued', 'starting', 'pending', 'running', 'finishing', 'canceling', 'succeeded', 'failed', 'canceled'] as const
export type JobState = (typeof JOB_STATES)[number]

/**
 * The legal moves: `MOVES[to]` are the states it may come from. Terminal states are in nobody's list of sources:
 * they are written once. An attempt that is tried again ends here as `failed`, and its job is queued.
 */
export const MOVES = {
  queued: [],
  starting: ['queued'],
  pending: ['starting'],
  running: ['starting', 'pending'],
  finishing: ['queued', 'starting', 'pending', 'running'],
  canceling: ['queued', 'starting', 'pending', 'running'],
  succeeded: ['finishing', 'canceling'],
  failed: ['finishing', 'canceling'],
  canceled: ['finishing', 'canceling'],
} as const satisfies Record<JobState, readonly JobState[]>

export const TERMINAL_STATES = ['succeeded', 'failed', 'canceled'] as const
export type TerminalState = (typeof TERMINAL_STATES)[number]

export const isTerminal = (state: JobState): state is TerminalState => (TERMINAL_STATES as readonly JobState[]).includes(state)

export const isLegalMove = (from: JobState, to: JobState): boolean => (MOVES[to] as readonly JobState[]).includes(from)
