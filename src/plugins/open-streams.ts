import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { StreamWriter } from './stream-writer.ts'
import { createStreamWriter } from './stream-writer.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers that are still being written, and the way to begin one. */
    openStreams: OpenStreams
  }
}

export interface OpenStreams {
  readonly size: number
  /** Takes the reply over; `headers` are added to those that the reply has. */
  open(reply: FastifyReply, headers: Readonly<Record<string, string>>): StreamWriter
}

/** Keeps account of every stream, and aborts them all when the app closes, so that closing never waits for a client. */
export const openStreams = fp(
  async (app) => {
    const writers = new Set<StreamWriter>()
    app.decorate('openStreams', {
      get size() {
        return writers.size
      },
      open(reply: FastifyReply, headers: Readonly<Record<string, string>>) {
        const writer = createStreamWriter(reply, headers)
        // A client that is gone already closes no second time.
        if (writer.signal.aborted) return writer
        writers.add(writer)
        reply.raw.once('close', () => writers.delete(writer))
        return writer
      },
    })
    app.addHook('preClose', async () => {
      for (const writer of writers) writer.abort('shutdown')
    })
  },
  { name: 'open-streams' },
)
