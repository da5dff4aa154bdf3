import { request } from 'node:http'
import { posix } from 'node:path'
import { text } from 'node:stream/consumers'

/** What a call to the plugin failed of. */
export class RcloneError extends Error {
  override readonly name = 'RcloneError'
  /** Of the answer; null if there was none. */
  readonly statusCode: number | null

  constructor(message: string, statusCode: number | null, options: ErrorOptions = {}) {
    super(message, options)
    this.statusCode = statusCode
  }
}

const DEADLINE_MS = 20_000

/** The remote control of an rclone volume plugin (https://rclone.org/rc, 1.76), on its socket. */
export class RcloneControl {
  readonly #socket: string

  constructor(socket: string) {
    this.#socket = socket
  }

  /** @param path of the command, such as `vfs/list` @throws RcloneError */
  call<T>(path: string, parameters: object, signal: AbortSignal): Promise<T> {
    return this.#send<T>(`/${path}`, { type: 'application/json', body: JSON.stringify(parameters) }, signal)
  }

  /** Stores a small file. @param fs `remote:bucket/prefix` @throws RcloneError */
  async upload({ fs, name, content }: { fs: string; name: string; content: string }, signal: AbortSignal): Promise<void> {
    const file = posix.basename(name)
    const form = ['--berth', `Content-Disposition: form-data; name="file0"; filename="${file}"`, '', content, '--berth--', '']
    const query = new URLSearchParams({ fs, remote: posix.dirname(name) })
    const body = { type: 'multipart/form-data; boundary=berth', body: form.join('\r\n') }
    await this.#send(`/operations/uploadfile?${query.toString()}`, body, signal)
  }

  async #send<T>(path: string, { type, body }: { type: string; body: string }, signal: AbortSignal): Promise<T> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
    return new Promise<T>((resolve, reject) => {
      const lost = (cause: Error): void => reject(new RcloneError(`no answer on ${this.#socket}: ${cause.message}`, null, { cause }))
      const sent = request({ socketPath: this.#socket, method: 'POST', path, headers, signal: limit }, (answer) => {
        text(answer).then((words) => {
          const { statusCode = 0 } = answer
          if (statusCode === 200) resolve(JSON.parse(words === '' ? '{}' : words) as T)
          else reject(new RcloneError(wordsOf(words), statusCode))
        }, lost)
      })
      sent.once('error', lost)
      sent.end(body)
    })
  }
}

function wordsOf(body: string): string {
  try {
    return (JSON.parse(body) as { error?: string }).error ?? body
  } catch {
    return body
  }
}
