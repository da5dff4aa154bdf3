/** Attempts that are acted on at once on one scheduler; most of that time it is waited for. */
const WIDTH = 32
/** A full lane that nobody has left for so long takes nobody in. */
const STUCK_MS = 5_000

/**
 * One lane for each scheduler, so that one that hangs does not hold up the others: who would have to wait for it is sent
 * away, and comes again when his doorbell rings next.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #stop: AbortSignal

  /** @param stop sends away whoever waits. */
  constructor(stop: AbortSignal) {
    this.#stop = stop
    stop.addEventListener('abort', () => this.#lanes.forEach((lane) => lane.wakeAll()), { once: true })
  }

  /** Acts when there is room in the lane; not at all if it is stuck. */
  async act(scheduler: string, act: () => Promise<void>): Promise<void> {
    let lane = this.#lanes.get(scheduler)
    if (!lane) this.#lanes.set(scheduler, (lane = new Lane()))
    if (!(await lane.enter(this.#stop))) return
    try {
      await act()
    } finally {
      lane.leave()
    }
  }
}

class Lane {
  #inside = 0
  #movedAt = performance.now()
  readonly #waiting = new Set<() => void>()

  /** False if it is stuck, or nobody is to wait any more. */
  async enter(stop: AbortSignal): Promise<boolean> {
    while (this.#inside >= WIDTH) {
      if (stop.aborted || performance.now() - this.#movedAt >= STUCK_MS) return false
      await this.#change()
    }
    this.#inside += 1
    this.#movedAt = performance.now()
    return true
  }

  leave(): void {
    this.#inside -= 1
    this.#movedAt = performance.now()
    for (const wake of this.#waiting) {
      wake()
      break
    }
  }

  wakeAll(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Until there is something to look at: somebody has left, time has passed, or all are woken. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, STUCK_MS)
      this.#waiting.add(wake)
    })
  }
}
