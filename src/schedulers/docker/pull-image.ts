import { SchedulerError, type SubmitContext } from '../scheduler.ts'
import { EngineError, type Engine, type RegistryCredentials } from './engine.ts'
import { assertClaimed, refusal } from './errors.ts'
import { parseImageReference } from './image-reference.ts'
import { readJsonLines } from './json-lines.ts'

/** Credentials by registry host; `docker.io` for Docker Hub. */
export type Registries = Readonly<Record<string, RegistryCredentials>>

/**
 * Fetches an image unless it is there, and tells how far it has come.
 * @throws SchedulerError `rejected` with `image_pull_failed` in the daemon's own words
 */
export async function pullImage(engine: Engine, image: string, context: SubmitContext, registries: Registries): Promise<void> {
  const { signal, progress } = context
  assertClaimed(signal)
  const present = await engine.find({ method: 'GET', path: imagePath(image), signal })
  if (present !== null) return
  assertClaimed(signal)
  progress({ reason: 'image_pull', detail: image })
  const { registry, fromImage, tag } = parseImageReference(image)
  const credentials = registries[registry]
  try {
    const query = { fromImage, tag }
    const stream = await engine.stream({ method: 'POST', path: '/images/create', query, signal, ...(credentials && { credentials }) })
    const layers = new Map<string, Layer>()
    for await (const line of readJsonLines(stream)) {
      const detail = noteProgress(line as PullMessage, layers)
      if (detail !== null) progress({ reason: 'image_pull', detail: `${image}: ${detail}` })
    }
  } catch (error) {
    if (error instanceof EngineError && error.statusCode !== null) throw refusal(error, 'image_pull_failed')
    throw error
  }
}

const imagePath = (image: string): string => `/images/${image.split('/').map(encodeURIComponent).join('/')}/json`

/** A line of the daemon's progress. */
interface PullMessage {
  readonly id?: string
  readonly status?: string
  readonly error?: string
  readonly errorDetail?: { readonly message?: string }
  readonly progressDetail?: Partial<Layer>
}

/** Bytes of one layer. */
interface Layer {
  readonly current: number
  readonly total: number
}

/** What to tell; null if nothing is new. An error comes inside of a stream that began with 200. */
function noteProgress(message: PullMessage, layers: Map<string, Layer>): string | null {
  const words = message.errorDetail?.message ?? message.error
  if (words !== undefined) throw new SchedulerError('rejected', words, { failure: 'image_pull_failed' })
  const { current, total } = message.progressDetail ?? {}
  // Unpacking counts from 0 again.
  if (message.status !== 'Downloading' || message.id === undefined || current === undefined || total === undefined) return null
  layers.set(message.id, { current, total })
  const sum = [...layers.values()].reduce((a, b) => ({ current: a.current + b.current, total: a.total + b.total }))
  return `${toMiB(sum.current)} of ${toMiB(sum.total)} MiB`
}

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 / 1024)
