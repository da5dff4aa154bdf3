import { BlockList, isIP } from 'node:net'

/** Which addresses a URL of a tenant may lead to. */
export interface AddressPolicy {
  /** @param address IPv4 or IPv6, as it is connected to; anything else is refused */
  allows(address: string): boolean
}

export const ANY_ADDRESS: AddressPolicy = { allows: (address) => isIP(address) !== 0 }

type Net = readonly [string, number]

/** IPv4 that is not of the open internet (IANA special-purpose registry, RFC 6890; 224/4 and 240/4 by RFC 1112). */
const SPECIAL_IPV4: readonly Net[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** All that is given out of IPv6 (RFC 4291, 2.4), without what is special in it: Teredo, documentation, 6to4, SRv6. */
const GLOBAL_IPV6: Net = ['2000::', 3]
const SPECIAL_IPV6: readonly Net[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const special = blockList([], SPECIAL_IPV4, SPECIAL_IPV6)
const global = blockList([], [], [GLOBAL_IPV6])

/** The open internet, and what the operator names besides. @param cidrs such as `10.1.0.0/16`, already checked */
export function openInternetAnd(cidrs: readonly string[]): AddressPolicy {
  const named = blockList(cidrs, [], [])
  return { allows: (address) => check(named, address) || isPublic(address) }
}

/** Those addresses alone. */
export function onlyNamed(cidrs: readonly string[]): AddressPolicy {
  const named = blockList(cidrs, [], [])
  return { allows: (address) => check(named, address) }
}

function isPublic(address: string): boolean {
  if (isIP(address) === 0 || check(special, address)) return false
  return isIP(plainOf(address)) === 4 || check(global, address)
}

/** IPv4 inside of IPv6 counts as what it is. */
const plainOf = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

function check(list: BlockList, address: string): boolean {
  const plain = plainOf(address)
  const family = isIP(plain)
  return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}

function blockList(cidrs: readonly string[], ipv4: readonly Net[], ipv6: readonly Net[]): BlockList {
  const list = new BlockList()
  for (const [net, bits] of ipv4) list.addSubnet(net, bits, 'ipv4')
  for (const [net, bits] of ipv6) list.addSubnet(net, bits, 'ipv6')
  for (const cidr of cidrs) {
    const [net = '', bits] = cidr.split('/')
    list.addSubnet(net, Number(bits), isIP(net) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
