/** "Look at this attempt": a hint that may come twice, late, or never. Carries no state. */
export interface Doorbell {
  readonly attemptId: string
  /** Where it runs, by configured name. */
  readonly scheduler: string
  /** Makes the queue's id new: a doorbell that the queue kept would swallow every later one of the same id. */
  readonly ring: string
}
