import type { FastifyInstance } from 'fastify'

/** In this part of the app a body of any type is handed over as the stream that it is, of whatever size. */
export function takeRawBodies(app: Pick<FastifyInstance, 'removeAllContentTypeParsers' | 'addContentTypeParser'>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
}
