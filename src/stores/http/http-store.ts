import { createHash } from 'node:crypto'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Transform, type Readable } from 'node:stream'
import type { HttpFile } from '../../domain/drives/drive.ts'
import { StoreError, type ObjectInfo, type ObjectStore } from '../object-store.ts'
import { ForbiddenAddressError, type GuardedAgents } from '../../outbound/guarded-agents.ts'

const REDIRECTS = 5
const TIMEOUT_MS = 30_000

/** Files by URL, each with the digest that makes it what it is. Can only be read. */
export function httpStore(files: readonly HttpFile[], agents: GuardedAgents): ObjectStore {
  const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const find = (key: string): HttpFile => {
    const file = sorted.find(({ path }) => path === key)
    if (file === undefined) throw new StoreError('not_found', `there is no object "${key}"`)
    return file
  }
  const head = async (file: HttpFile, signal: AbortSignal): Promise<ObjectInfo> => {
    const answer = await follow(file.url, { agents, method: 'HEAD', signal })
    answer.resume()
    return infoOf(file, answer)
  }
  return {
    head: async (key, signal) => (sorted.some(({ path }) => path === key) ? head(find(key), signal) : null),
    async read(key, { range, signal }) {
      const file = find(key)
      const answer = await follow(file.url, {
        agents,
        method: 'GET',
        signal,
        ...(range && { range: `bytes=${range.start}-${range.end}` }),
      })
      if (range !== undefined && answer.statusCode !== 206) throw new StoreError('unavailable', 'the server cannot give a part of the file')
      return range === undefined ? answer.pipe(verifying(file, answer)) : answer
    },
    async list({ prefix, after, limit, signal }) {
      const wanted = sorted.filter(
        ({ path }) => path.startsWith(prefix) && (after === null || Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0),
      )
      const page = wanted.slice(0, limit)
      const objects = await Promise.all(page.map((file) => head(file, signal)))
      return { objects, prefixes: [], next: wanted.length > limit ? (page.at(-1)?.path ?? null) : null }
    },
    write: readOnly,
    remove: readOnly,
    batch: () => ({ write: readOnly, keys: async () => [], check: readOnly, commit: readOnly, abandon: async () => undefined }),
    presign: async () => null,
  }
}

const readOnly = (): Promise<never> => Promise.reject(new StoreError('access_denied', 'a drive of kind http can only be read'))

const infoOf = ({ path, sha256 }: HttpFile, { headers }: IncomingMessage): ObjectInfo => ({
  key: path,
  size: Number(headers['content-range']?.split('/')[1] ?? headers['content-length'] ?? 0),
  etag: `"${sha256}"`,
  modifiedAt: new Date(headers['last-modified'] ?? 0),
  contentType: headers['content-type'] ?? null,
  sha256,
})

interface Asking {
  readonly agents: GuardedAgents
  readonly method: 'GET' | 'HEAD'
  readonly range?: string
  readonly signal: AbortSignal
}

async function follow(address: string, asking: Asking, redirects = 0): Promise<IncomingMessage> {
  const url = new URL(address)
  const answer = await ask(url, asking)
  const { statusCode = 0, headers } = answer
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    answer.resume()
    if (redirects >= REDIRECTS) throw new StoreError('misconfigured', `${url.host} sends from one address to the next without end`)
    return follow(new URL(headers.location, url).href, asking, redirects + 1)
  }
  if (statusCode === 200 || statusCode === 206) return answer
  answer.resume()
  const kind =
    statusCode === 404 || statusCode === 410 ? 'not_found' : statusCode === 401 || statusCode === 403 ? 'access_denied' : 'unavailable'
  throw new StoreError(kind, `${url.host} answered ${statusCode}`)
}

function ask(url: URL, { agents, method, range, signal }: Asking): Promise<IncomingMessage> {
  if (!/^https?:$/.test(url.protocol) || url.username !== '')
    throw new StoreError('access_denied', 'only http and https without a user name are asked')
  const [request, agent] = url.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http]
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent,
      signal,
      timeout: TIMEOUT_MS,
      headers: { 'accept-encoding': 'identity', ...(range !== undefined && { range }) },
    })
    sent.once('response', resolve)
    sent.once('timeout', () => sent.destroy(new StoreError('unavailable', `${url.host} did not answer in time`)))
    sent.once('error', (error) => reject(explained(error)))
    sent.end()
  })
}

function explained(error: Error): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(error instanceof ForbiddenAddressError ? 'access_denied' : 'unavailable', error.message, { cause: error })
}

/** A file that is not what its digest says is an error at its end, and none that is cut off passes. */
function verifying({ path, sha256 }: HttpFile, source: Readable): Transform {
  const hash = createHash('sha256')
  const out = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      const digest = hash.digest('hex')
      done(digest === sha256 ? null : new StoreError('digest_mismatch', `"${path}" hashes to sha-256 ${digest}, not to ${sha256}`))
    },
  })
  source.once('error', (error) => out.destroy(new StoreError('unavailable', 'the server broke off', { cause: error })))
  source.once('aborted', () => out.destroy(new StoreError('unavailable', 'the server broke off')))
  return out
}
