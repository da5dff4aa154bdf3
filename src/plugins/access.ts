import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../domain/problem.ts'
import type { DriveGrant } from '../services/drives/drive-grant.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route: the holder of a key, or everybody. A route that does not say keeps the app from starting. */
    access?: 'key' | 'open'
    /** Where the request says which part of a drive it is about; the tokens of jobs are let in nowhere else. */
    reach?: 'path' | 'prefix'
  }
  interface FastifyRequest {
    /** The project that the key belongs to; empty on open routes. */
    project: string
    /** What a job may do here; null for the holder of a key. */
    grant: DriveGrant | null
  }
}

export interface AccessOptions {
  /** The API key of this installation. */
  readonly apiKey: string
  /** What the token of a job is good for now; null for none. */
  readonly findGrant: (token: string) => Promise<DriveGrant | null>
}

const PROJECT = 'default'

/**
 * Denies by default: every request needs the key unless its route says `access: 'open'`, unknown addresses
 * included. A route that says neither stops the start, so that none can be forgotten. The token of a job is as good as
 * the key where a route says what it reaches, for the part of the drive that the job mounts.
 */
export const access = fp<AccessOptions>(
  async (app, { apiKey, findGrant }) => {
    const expected = digest(apiKey)
    const routes: RouteOptions[] = []
    app.decorateRequest('project', '')
    app.decorateRequest('grant', null)
    app.addHook('onRoute', (route) => void routes.push(route))
    // Only now: a plugin of others gets its `access` from the scope around it, whose hook comes after ours.
    app.addHook('onReady', async () => {
      const silent = routes.filter(({ config }) => config?.access === undefined)
      if (silent.length > 0) throw new Error(`routes that do not say who may call them: ${silent.map(nameOf).join('; ')}`)
    })
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.access === 'open') return
      const key = bearerToken(request.headers.authorization)
      if (key !== null && timingSafeEqual(digest(key), expected)) {
        request.project = PROJECT
        return
      }
      request.grant = key === null ? null : await findGrant(key)
      if (request.grant === null) throw stranger(reply, key)
      request.project = request.grant.project
      if (request.routeOptions.config.reach === undefined)
        throw new Problem('access_denied', 'The token of a job is for the objects of its drive alone.')
    })
    // Once the parameters are known to be what the route takes.
    app.addHook('preHandler', async (request) => {
      if (request.grant !== null) refuseBeyond(request.grant, request)
    })
  },
  { name: 'access' },
)

function stranger(reply: FastifyReply, key: string | null): Problem {
  void reply.header('www-authenticate', key === null ? 'Bearer realm="berth"' : 'Bearer realm="berth", error="invalid_token"')
  const detail = key === null ? 'Send the key as `Authorization: Bearer <key>`.' : 'This key is not known here, or no longer.'
  return new Problem('unauthenticated', detail)
}

interface DriveRequest {
  readonly params: { readonly name: string; readonly '*'?: string }
  readonly query: { readonly prefix?: string; readonly component?: string }
}

function refuseBeyond({ drive, prefix, producer }: DriveGrant, request: FastifyRequest): void {
  const { params, query } = request as unknown as DriveRequest
  const isPath = request.routeOptions.config.reach === 'path'
  const part = (isPath ? params['*'] : query.prefix) ?? ''
  if (params.name !== drive) throw new Problem('access_denied', `The token is for the drive \`${drive}\`.`)
  // As the prefix of a list, `a` would show `ab/` too.
  if (prefix !== '' && !part.startsWith(`${prefix}/`) && !(isPath && part === prefix)) {
    throw new Problem('access_denied', `The token is for what lies below \`${prefix}/\`.`)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD' && (query.component ?? producer) !== producer) {
    throw new Problem('access_denied', `The token is for what \`${producer}\` produces.`)
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const bearerToken = (header: string | undefined): string | null => /^Bearer +([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? null

const nameOf = ({ method, url }: RouteOptions): string => `${[method].flat().join('|')} ${url}`
