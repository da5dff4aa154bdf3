import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'
import { StoreError, type WriteOptions } from './object-store.ts'

/** Counts and hashes what passes, and breaks off what is too much or not what was said, before the last part is sent. */
export class UploadGauge extends Transform {
  bytes = 0
  digest = ''
  failure: StoreError | null = null
  readonly #hash = createHash('sha256')
  readonly #options: WriteOptions

  constructor(options: WriteOptions) {
    super({ highWaterMark: 1024 * 1024 })
    this.#options = options
    this.once('error', (error) => (this.failure ??= new StoreError('unavailable', 'the upload was cut off', { cause: error })))
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error?: Error | null, chunk?: Buffer) => void): void {
    this.bytes += chunk.byteLength
    const { maxBytes = Infinity } = this.#options
    if (this.bytes > maxBytes) return done(this.#fail('too_large', `more than the ${maxBytes} bytes that are still allowed`))
    this.#hash.update(chunk)
    done(null, chunk)
  }

  override _flush(done: (error?: Error | null) => void): void {
    this.digest = this.#hash.digest('hex')
    const { sha256 } = this.#options
    if (sha256 === undefined || sha256 === this.digest) return done()
    done(this.#fail('digest_mismatch', `the bytes hash to sha-256 ${this.digest}, not to ${sha256}`))
  }

  #fail(kind: 'too_large' | 'digest_mismatch', words: string): StoreError {
    this.failure = new StoreError(kind, words)
    return this.failure
  }
}
