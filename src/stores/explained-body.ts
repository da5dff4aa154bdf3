import { PassThrough, type Readable } from 'node:stream'
import { StoreError } from './object-store.ts'

/** A body of a server; that it breaks off is told as an error of the store. */
export function explainedBody(body: Readable, signal: AbortSignal): Readable {
  const out = new PassThrough({ highWaterMark: 1024 * 1024, signal })
  body.once('error', (error) => out.destroy(new StoreError('unavailable', 'the server broke off', { cause: error })))
  out.once('close', () => body.destroy())
  return body.pipe(out)
}
