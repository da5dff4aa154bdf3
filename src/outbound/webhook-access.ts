import { isIP } from 'node:net'
import { needsLeave } from '../domain/webhooks/webhook-url.ts'
import { onlyNamed, openInternetAnd } from './address-policy.ts'
import { createGuardedAgents, type GuardedAgents } from './guarded-agents.ts'

/** Where webhooks may lead: HTTPS to the open internet, and anything at the addresses that the operator names. */
export interface WebhookAccess {
  /** Why an address cannot be one, by its words alone; null if it may. What its name leads to is looked at by each try. */
  refusal(url: URL): string | null
  agentsFor(url: URL): GuardedAgents
}

/** @param cidrs that the operator allows besides, checked already. Connections are not kept: a receiver may close them any time. */
export function createWebhookAccess(cidrs: readonly string[]): WebhookAccess {
  const wide = openInternetAnd(cidrs)
  const narrow = onlyNamed(cidrs)
  const agents = { wide: createGuardedAgents(wide, { keepAlive: false }), narrow: createGuardedAgents(narrow, { keepAlive: false }) }
  return {
    refusal(url) {
      if (needsLeave(url) && cidrs.length === 0) return 'must be https, at port 443 or 8443: the operator allows nothing else here'
      const address = literalOf(url)
      if (address === null || (needsLeave(url) ? narrow : wide).allows(address)) return null
      return `leads to ${address}, which is not of the open internet, nor named in BERTH_WEBHOOK_ALLOW_CIDRS`
    },
    agentsFor: (url) => (needsLeave(url) ? agents.narrow : agents.wide),
  }
}

function literalOf({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (/(^|\.)localhost$/i.test(host)) return '127.0.0.1'
  return isIP(host) === 0 ? null : host
}
