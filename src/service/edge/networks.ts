// Networks in options of the service: a single IP address, or CIDR.

import ipaddr from 'ipaddr.js'
import { StartError } from '../start-error.ts'

/** True for an address in one of the networks; false for text that is not an address. */
export type IsInNetworks = (address: string) => boolean

/** Throws a StartError that names an entry which is neither an address nor CIDR. */
export function parseNetworks(networks: readonly string[]): IsInNetworks {
  const parsed = networks.map(parseNetwork)
  const isIn = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false
    const plain = ipaddr.process(address)
    return parsed.some(([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits))
  }
  // Consecutive calls are mostly for the same address.
  let last = { address: '', isIn: false }
  return (address) => {
    if (address !== last.address) last = { address, isIn: isIn(address) }
    return last.isIn
  }
}

/** An IPv4-mapped IPv6 address becomes plain IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && ipaddr.isValid(address)
    ? ipaddr.process(address).toString()
    : address
}

export const isLoopback: IsInNetworks = parseNetworks(['127.0.0.0/8', '::1'])

/** Accepts only unambiguous spellings: some programs read 010.0.0.0 as octal, and not all know 10/8. */
function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [, written = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (ipaddr.IPv4.isValidFourPartDecimal(written) || ipaddr.IPv6.isValid(written)) {
    const isMapped = ipaddr.IPv6.isValid(written) && ipaddr.IPv6.parse(written).isIPv4MappedAddress()
    const address = ipaddr.process(written)
    const mostBits = address.kind() === 'ipv4' ? 32 : 128
    const wantedBits = bits === undefined ? mostBits : Number(bits) - (isMapped ? 96 : 0)
    if (wantedBits >= 0 && wantedBits <= mostBits) return [address, wantedBits]
  }
  throw new StartError(`${text} is neither an address nor a network like 10.0.0.0/8`)
}
