/** Labels of everything that we make. The epoch is not among them: it changes, and labels cannot; it ends the name. */
export const LABELS = {
  installation: 'berth.installation',
  project: 'berth.project',
  job: 'berth.job',
  attempt: 'berth.attempt',
  attemptNumber: 'berth.attempt-number',
  role: 'berth.role',
  replica: 'berth.replica',
  /** Hash of the create body. */
  spec: 'berth.spec',
} as const

/** Which replica a container is, and under which claim. */
export interface ContainerIdentity {
  readonly attemptId: string
  readonly role: string
  readonly index: number
  readonly epoch: number
}

/** null for what is not a replica of ours, whatever it is called. One that somebody has renamed is of no claim, and below each. */
export function identify(labels: Readonly<Record<string, string>>, name: string): ContainerIdentity | null {
  const attemptId = labels[LABELS.attempt]
  const role = labels[LABELS.role]
  const index = labels[LABELS.replica]
  const epoch = /-e(\d+)$/.exec(name)?.[1] ?? 0
  if (attemptId === undefined || role === undefined || index === undefined) return null
  return { attemptId, role, index: Number(index), epoch: Number(epoch) }
}

/** Value of the Engine API's `filters` for what has all of these labels. */
export function labelFilter(wanted: Partial<Record<keyof typeof LABELS, string>>): { label: string[] } {
  const keys = Object.keys(wanted) as (keyof typeof LABELS)[]
  return { label: keys.map((key) => `${LABELS[key]}=${wanted[key]}`) }
}
