import fp from 'fastify-plugin'

/** One line for each request, when it is answered: never a header, a query or a body, which may hold secrets. */
export const requestLog = fp(
  async (app) => {
    app.addHook('onResponse', ({ log, method, url, routeOptions, ip }, reply, done) => {
      const path = url.split('?', 1)[0]
      log.info({ method, path, route: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip }, 'request')
      done()
    })
  },
  { name: 'request-log' },
)
