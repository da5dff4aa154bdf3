import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import type { AddressPolicy } from './address-policy.ts'

/** A host that tenants' URLs must not lead to; told apart by its code. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly code = 'BERTH_FORBIDDEN_ADDRESS'

  constructor(host: string) {
    super(`${host} is not an address of the open internet, nor one that the operator allows`)
  }
}

export interface GuardedAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/**
 * Agents that connect only to allowed addresses. The address that is checked is the one that is connected to, so that a
 * name cannot change its mind in between; one forbidden address among those of a name refuses the name.
 */
export function createGuardedAgents(policy: AddressPolicy, options: AgentOptions): GuardedAgents {
  return { http: guarded(new HttpAgent(options), policy), https: guarded(new HttpsAgent(options), policy) }
}

type Connect = (options: { host?: string }, done: (error: Error | null, socket?: Duplex) => void) => Duplex | undefined

function guarded<A extends HttpAgent>(agent: A, policy: AddressPolicy): A {
  const connect = agent.createConnection.bind(agent) as unknown as Connect
  const checked: Connect = (options, done) => {
    const host = (options.host ?? '').replace(/^\[|\]$/g, '')
    // A literal address is never looked up.
    if (isIP(host) !== 0 && !policy.allows(host)) {
      process.nextTick(done, new ForbiddenAddressError(host))
      return undefined
    }
    return connect({ ...options, lookup: guardedLookup(policy) } as typeof options, done)
  }
  agent.createConnection = checked as unknown as A['createConnection']
  return agent
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void

const guardedLookup =
  (policy: AddressPolicy) =>
  (hostname: string, options: LookupOptions, done: Found): void => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      if (addresses.length === 0 || addresses.some(({ address }) => !policy.allows(address)))
        return done(new ForbiddenAddressError(hostname), [])
      if (options.all === true) return done(null, addresses)
      const [first] = addresses
      return done(null, first?.address ?? '', first?.family)
    })
  }
