import { setMaxListeners } from 'node:events'
import { Agent } from 'node:http'
import type { Readable } from 'node:stream'
import { inspect } from 'node:util'
import Docker from 'dockerode'

/** A daemon works on few containers at a time anyway; more requests would only wait in its memory. */
export const REQUESTS_AT_ONCE = 8

/** One request to the Engine API. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  /** Without the query: `/containers/json`. */
  readonly path: string
  /** Objects are sent as JSON, as `filters` wants it. */
  readonly query?: Readonly<Record<string, string | number | boolean | object>>
  readonly body?: object
  readonly credentials?: RegistryCredentials
  readonly signal: AbortSignal
  /** Of a call; a stream has none. Default 30 s. */
  readonly deadlineMs?: number
}

/** Of one registry. Never part of a message. */
export interface RegistryCredentials {
  readonly username: string
  readonly password: string
}

/** An answer that is no success, or none at all. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  /** null: the daemon gave no answer, and whether it acted is unknown. */
  readonly statusCode: number | null
  /** Of the connection, such as `ENOENT`. */
  readonly code: string | null

  constructor(message: string, facts: { statusCode: number | null; code: string | null }) {
    super(message)
    this.statusCode = facts.statusCode
    this.code = facts.code
  }
}

const PING_MS = 3_000

/** One Docker daemon. Calls have a deadline and share connections; each stream has a connection of its own. */
export class Engine {
  /** As it was configured, for messages. */
  readonly host: string
  readonly #calls: Docker
  readonly #streams: Docker

  /**
   * @param host `unix:///path/of/socket` or `tcp://127.0.0.1:2375`
   * @throws Error for any other: plain TCP beyond loopback would give the machine away.
   */
  constructor(host: string) {
    this.host = host
    this.#calls = connect(host, new PlainAgent({ keepAlive: true, maxFreeSockets: 8 }))
    this.#streams = connect(host, new PlainAgent({ keepAlive: false }))
  }

  /** The parsed answer. @throws EngineError for every status but 2xx and 304, after the deadline, and when aborted. */
  async call<T>(request: EngineRequest): Promise<T> {
    const { signal, deadlineMs = 30_000 } = request
    const limit = new AbortController()
    const abort = (): void => limit.abort()
    allowManyCalls(signal)
    const timer = setTimeout(abort, deadlineMs)
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) abort()
      return (await dial(this.#calls, { ...request, signal: limit.signal, isStream: false })) as T
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  /** The answer's body as it comes; destroyed with an error when aborted. @throws EngineError like `call`. */
  async stream(request: EngineRequest): Promise<Readable> {
    return (await dial(this.#streams, { ...request, isStream: true })) as Readable
  }

  /** Sends a tar stream, for as long as it takes. @throws EngineError like `call`; the body is destroyed then */
  async upload(request: EngineRequest, body: Readable): Promise<void> {
    try {
      await dial(this.#streams, { ...request, isStream: false }, body)
    } finally {
      body.destroy()
    }
  }

  /**
   * A daemon that is shutting down takes no new connections, but answers on old ones until it has ended all containers.
   * @throws EngineError when it is
   */
  async assertTakesConnections(signal: AbortSignal): Promise<void> {
    const body = await this.stream({ method: 'GET', path: '/_ping', signal: AbortSignal.any([signal, AbortSignal.timeout(PING_MS)]) })
    body.destroy()
  }

  /** null instead of a 404. */
  async find<T>(request: EngineRequest): Promise<T | null> {
    try {
      return await this.call<T>(request)
    } catch (error) {
      if (statusOf(error) === 404) return null
      throw error
    }
  }
}

/** Status code of the daemon's answer; null when it gave none. */
export const statusOf = (error: unknown): number | null => (error instanceof EngineError ? error.statusCode : null)

/** For what makes or starts something: of a call that is cut off nobody would know whether it took effect. */
export const unaborted = (): AbortSignal => new AbortController().signal

/** One signal may stand behind hundreds of calls at a time, each of which takes its listener away again. */
const allowManyCalls = (signal: AbortSignal): void => setMaxListeners(0, signal)

/** docker-modem prints its options to all depths before each request, even if nobody reads it: with sockets, 10 ms and more. */
class PlainAgent extends Agent {
  [inspect.custom](): string {
    return 'Agent'
  }
}

/** All that the environment could say (`DOCKER_HOST` and its kin) is overruled by an explicit value. */
function connect(host: string, agent: Agent): Docker {
  const nothing = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined, timeout: undefined }
  const shared = { ...nothing, protocol: 'http' as const, pathPrefix: '/', sshAuthAgent: undefined, agent }
  const url = new URL(host)
  if (url.protocol === 'unix:' && url.pathname !== '') return new Docker({ ...shared, socketPath: url.pathname })
  if (url.protocol === 'tcp:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    return new Docker({ ...shared, host: `http://${url.hostname}`, port: url.port === '' ? '2375' : url.port })
  }
  throw new Error(`Docker host ${host}: only unix:///path and tcp:// on loopback are taken`)
}

/**
 * dockerode's own methods put a whole create body into the URL as well, and read logs into one string, so requests
 * go to its transport. That never settles when the daemon dies in mid-answer, so the signal settles it here.
 */
function dial(docker: Docker, request: EngineRequest & { readonly isStream: boolean }, file?: Readable): Promise<unknown> {
  const { method, path, query = {}, body = {}, credentials, signal, isStream } = request
  return new Promise((resolve, reject) => {
    allowManyCalls(signal)
    const stopped = (): void => reject(new EngineError(`no answer to ${method} ${path} in time`, { statusCode: null, code: 'ABORTED' }))
    if (signal.aborted) return stopped()
    signal.addEventListener('abort', stopped, { once: true })
    file?.once('error', (error) => reject(new EngineError(error.message, { statusCode: null, code: 'UPLOAD' })))
    const options = { _query: query, _body: body }
    const statusCodes = { 200: true, 201: true, 204: true, 304: true }
    const dialed = {
      path: `${path}?`,
      method,
      options,
      isStream,
      statusCodes,
      abortSignal: signal,
      authconfig: credentials,
      ...(file && { file }),
    }
    docker.modem.dial(dialed, (error: unknown, answer: unknown) => {
      signal.removeEventListener('abort', stopped)
      if (error) reject(toEngineError(error))
      else resolve(answer)
    })
  })
}

interface DialError extends Partial<NodeJS.ErrnoException> {
  readonly statusCode?: number
  readonly json?: unknown
}

function toEngineError(error: unknown): EngineError {
  const { statusCode = null, code = null, json, message } = error as DialError
  const words = typeof json === 'object' && json !== null && 'message' in json ? String(json.message) : message
  return new EngineError(words ?? 'unknown error', { statusCode, code })
}
