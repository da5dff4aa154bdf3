import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { StoreError } from '../object-store.ts'

/** Addresses that a tenant's URL must not lead to (IANA special-purpose registries, RFC 6890). */
const FORBIDDEN = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  FORBIDDEN.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  FORBIDDEN.addSubnet(net, bits, 'ipv6')
}

/** Whether an address is one of the world's and not of this network. IPv4 inside of IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const plain = mapped ?? address
  const family = isIP(plain)
  return family !== 0 && !FORBIDDEN.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}

type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/**
 * For the `lookup` of a request: the address that is checked is the one that is connected to. One forbidden address
 * among those of a name refuses the name.
 */
export function guardedLookup(hostname: string, options: LookupOptions, done: Done): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, [])
    const forbidden = addresses.find(({ address }) => !isPublicAddress(address))
    if (forbidden !== undefined || addresses.length === 0) {
      return done(new StoreError('access_denied', `${hostname} is not an address of the open internet`), [])
    }
    const [first] = addresses
    if (options.all === true) return done(null, addresses)
    return done(null, first?.address ?? '', first?.family)
  })
}
