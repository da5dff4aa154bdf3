import { createHash, timingSafeEqual } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../domain/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route: the holder of a key, or everybody. A route that does not say keeps the app from starting. */
    access?: 'key' | 'open'
  }
  interface FastifyRequest {
    /** The project that the key belongs to; empty on open routes. */
    project: string
  }
}

export interface AccessOptions {
  /** The API key of this installation. */
  readonly apiKey: string
}

const PROJECT = 'default'

/**
 * Denies by default: every request needs the key unless its route says `access: 'open'`, unknown addresses
 * included. A route that says neither stops the start, so that none can be forgotten.
 */
export const access = fp<AccessOptions>(
  async (app, { apiKey }) => {
    const expected = digest(apiKey)
    const routes: RouteOptions[] = []
    app.decorateRequest('project', '')
    app.addHook('onRoute', (route) => void routes.push(route))
    // Only now: a plugin of others gets its `access` from the scope around it, whose hook comes after ours.
    app.addHook('onReady', async () => {
      const silent = routes.filter(({ config }) => config?.access === undefined)
      if (silent.length > 0) throw new Error(`routes that do not say who may call them: ${silent.map(nameOf).join('; ')}`)
    })
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.access === 'open') return
      const key = bearerToken(request.headers.authorization)
      if (key === null || !timingSafeEqual(digest(key), expected)) {
        void reply.header('www-authenticate', key === null ? 'Bearer realm="berth"' : 'Bearer realm="berth", error="invalid_token"')
        throw new Problem(
          'unauthenticated',
          key === null ? 'Send the key as `Authorization: Bearer <key>`.' : 'This key is not known here.',
        )
      }
      request.project = PROJECT
    })
  },
  { name: 'access' },
)

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const bearerToken = (header: string | undefined): string | null => /^Bearer +([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? null

const nameOf = ({ method, url }: RouteOptions): string => `${[method].flat().join('|')} ${url}`
