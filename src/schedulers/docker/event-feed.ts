import type { Readable } from 'node:stream'
import type { Engine } from './engine.ts'
import { LABELS, labelFilter } from './labels.ts'
import { readJsonLines } from './json-lines.ts'

/** The daemon's events about our containers, boiled down to which containers must be looked at. */
export class EventFeed {
  readonly #stream: Readable
  #changed = new Set<string>()
  #ended = false
  #wake: () => void = () => {}

  /** @throws EngineError */
  static async open(engine: Engine, installation: string, signal: AbortSignal): Promise<EventFeed> {
    const filters = { type: ['container'], event: ['start', 'die', 'destroy'], ...labelFilter({ installation }) }
    return new EventFeed(await engine.stream({ method: 'GET', path: '/events', query: { filters }, signal }))
  }

  private constructor(stream: Readable) {
    this.#stream = stream
    void this.#read()
  }

  /** Whether the daemon closed it: what happened since is unknown. */
  get ended(): boolean {
    return this.#ended
  }

  /** Settles at the first change that was not taken, at the end of the feed, or after this time. */
  async changed(withinMs: number): Promise<void> {
    if (this.#changed.size === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    // A start and an end that come together are one look.
    if (this.#changed.size > 0) await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS))
  }

  /** Ids of the containers that changed since the last time. */
  take(): ReadonlySet<string> {
    const taken = this.#changed
    this.#changed = new Set()
    return taken
  }

  close(): void {
    this.#stream.destroy()
  }

  async #read(): Promise<void> {
    try {
      for await (const event of readJsonLines(this.#stream)) {
        const { Actor } = event as { Actor?: { ID?: string; Attributes?: Record<string, string> } }
        if (Actor?.ID === undefined || Actor.Attributes?.[LABELS.attempt] === undefined) continue
        this.#changed.add(Actor.ID)
        this.#wake()
      }
    } catch {
      // However it ended, what counts is that it did.
    }
    this.#ended = true
    this.#wake()
  }
}

const DEBOUNCE_MS = 3
