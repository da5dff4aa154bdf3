import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Server, type Socket } from 'node:net'

/** Stands before a server, so that a test can take the server away from Berth without touching it. */
export interface Proxy {
  /** TCP port; 0 on a Unix socket. */
  readonly port: number
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>
  /** Takes connections again, at the same place. */
  open(): Promise<void>
  /** Says nothing more on any connection, old or new, without cutting it: until `open`. */
  hush(): void
  /** Says nothing more on any connection that there is, for good and without cutting it; new ones are served. */
  strand(): void
  /** The next request that has one of these texts in it is passed on, its answer is not, and its connection is cut; one each. */
  loseAnswersTo(texts: readonly string[]): void
  /** Texts whose turn has not come yet. */
  readonly awaited: ReadonlySet<string>
  close(): Promise<void>
}

/** Within which a server has done what it was asked. */
const DONE_MS = 300

/** @param at where to listen: `{path}`, or `{}` for any port of loopback. */
export async function startProxy(target: NetConnectOpts, at: { readonly path?: string }): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const awaited = new Set<string>()
  let hushed = false
  /** Connections that were accepted before this many are stranded. */
  let stranded = 0
  let accepted = 0
  let place: ListenOptions = at.path === undefined ? { host: '127.0.0.1', port: 0 } : { path: at.path }
  let server: Server | null = null

  /** Whether what comes back is to be lost. */
  const isTurn = (request: Buffer): boolean => {
    const text = [...awaited].find((text) => request.includes(text))
    return text !== undefined && awaited.delete(text)
  }
  const accept = (client: Socket): void => {
    const upstream = connect(target)
    const number = accepted++
    let doomed = false
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => (sockets.delete(from), to.destroy()))
      from.on('end', () => to.end())
      from.on('data', (bytes) => {
        if (from === client && !doomed && isTurn(bytes)) {
          doomed = true
          setTimeout(() => (client.destroy(), upstream.destroy()), DONE_MS)
        }
        if (hushed || number < stranded || (doomed && from === upstream) || to.write(bytes)) return
        from.pause()
        to.once('drain', () => from.resume())
      })
    }
  }
  const shut = async (): Promise<void> => {
    const closing = server
    server = null
    closing?.close()
    for (const socket of sockets) socket.destroy()
    if (closing) await once(closing, 'close')
  }
  const open = async (): Promise<void> => {
    await shut()
    hushed = false
    if (at.path !== undefined) await rm(at.path, { force: true })
    server = createServer({ allowHalfOpen: true }, accept).listen(place)
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address) place = { host: '127.0.0.1', port: address.port }
  }
  const loseAnswersTo = (texts: readonly string[]): void => texts.forEach((text) => awaited.add(text))
  await open()
  const hush = (): void => void (hushed = true)
  const strand = (): void => void (stranded = accepted)
  return { port: place.port ?? 0, shut, open, hush, strand, loseAnswersTo, awaited, close: shut }
}
