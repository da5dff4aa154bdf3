import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be of any size and take any time, as long as it goes on: then only a pause ends it. */
    longBody?: true
  }
}

const BODY_MS = 30_000

/** A body must be here in time, or its connection is cut; Node's own limit knows no difference between routes. */
export const bodyDeadline = fp(
  async (app) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const { raw, routeOptions } = request
      const { 'content-length': length = '0', 'transfer-encoding': encoding } = raw.headers
      if (routeOptions.config.longBody === true || (length === '0' && encoding === undefined)) return done()
      const timer = setTimeout(() => raw.destroy(new Error('the body did not come in time')), BODY_MS)
      raw.once('close', () => clearTimeout(timer))
      done()
    })
  },
  { name: 'body-deadline' },
)
