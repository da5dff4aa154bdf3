import { isIP } from 'node:net'

/** `10.1.0.0/16, fd00::/8` as a list. */
export const cidrsIn = (text = ''): string[] => text.split(',').map((cidr) => cidr.trim()).filter((cidr) => cidr !== '')

export function isCidr(text: string): boolean {
  const [, net = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? []
  const family = isIP(net)
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
}
