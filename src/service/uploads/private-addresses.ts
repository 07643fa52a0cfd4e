// The addresses a service must not be talked into fetching from: its own machine, its network, and everything that is
// no public unicast address (the IANA special-purpose registries).

import { BlockList, isIP } from 'node:net'

const blocked = new BlockList()
for (const [network, prefix] of [
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
  ['224.0.0.0', 3],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv4')
}

// Of IPv6 only global unicast is public, and there the blocks for documentation and for tunnels to IPv4 are not.
const publicV6 = new BlockList()
publicV6.addSubnet('2000::', 3, 'ipv6')
const blockedV6 = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  blockedV6.addSubnet(network, prefix, 'ipv6')
}

/** True for every address that is not a public one; also for text that is no address. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return isPrivateAddress(mapped)
  switch (isIP(address)) {
    case 4:
      return blocked.check(address, 'ipv4')
    case 6:
      return !publicV6.check(address, 'ipv6') || blockedV6.check(address, 'ipv6')
    default:
      return true
  }
}
