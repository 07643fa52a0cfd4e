// The addresses from which a service must not fetch for a client (SSRF): its own machine and network, all that are no public
// unicast addresses, and public-looking ones that clouds use internally.

import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { parseNetworks } from '../edge/networks.ts'

const insideClouds = parseNetworks([
  // Azure: credentials, DNS and health of the virtual machine.
  '168.63.129.16',
  // IBM Cloud: services of its private network.
  '161.26.0.0/16',
  '166.8.0.0/14',
  // Google Kubernetes Engine: the services of a cluster.
  '34.118.224.0/20',
])
const globalUnicast = parseNetworks(['2000::/3'])

/** The address of the service: host of its links, and local port. */
export interface OwnAddress {
  readonly host: string
  readonly port: number | undefined
}

/** True where the URL has the host of the service's links. */
export function isOwnHost(url: URL, { host }: OwnAddress): boolean {
  return url.host === host
}

/** True where a connection from this machine to `address` and `port` reaches the service itself. */
export function isOwnAddress(address: string, port: number, own: OwnAddress): boolean {
  if (port !== own.port || !ipaddr.isValid(address)) return false
  const plain = ipaddr.process(address)
  if (plain.range() === 'loopback' || plain.range() === 'unspecified') return true
  return Object.values(networkInterfaces())
    .flat()
    .some((found) => found !== undefined && ipaddr.process(found.address).toString() === plain.toString())
}

/** True for every address that is not public, and for text that is not an address. */
export function isPrivateAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return true
  const plain = ipaddr.process(address)
  if (plain.range() !== 'unicast' || insideClouds(plain.toString())) return true
  return plain.kind() === 'ipv6' && !globalUnicast(plain.toString())
}
