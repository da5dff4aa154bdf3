/** The kinds of place that run attempts. A configured scheduler has a name and one of these kinds. */
export const SCHEDULER_KINDS = ['local', 'docker', 'kubernetes', 'aws_batch'] as const
export type SchedulerKind = (typeof SCHEDULER_KINDS)[number]
