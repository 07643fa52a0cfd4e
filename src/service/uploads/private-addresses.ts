// The addresses a service must not be talked into fetching from: its own machine, its network, everything that is no public
// unicast address, and those that look public but are answered inside a cloud only.

import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { parseNetworks } from '../edge/networks.ts'

const insideClouds = parseNetworks([
  // Azure: credentials, DNS and health of the machine that asks.
  '168.63.129.16',
  // IBM Cloud: services of its private network.
  '161.26.0.0/16',
  '166.8.0.0/14',
  // Google Kubernetes Engine: the services of a cluster.
  '34.118.224.0/20',
])
const globalUnicast = parseNetworks(['2000::/3'])

/** Where the service is reached: the host of its links, and the port it listens at on this machine. */
export interface OwnAddress {
  readonly host: string
  readonly port: number | undefined
}

/** True where the URL names the service as its links do. */
export function isOwnHost(url: URL, { host }: OwnAddress): boolean {
  return url.host === host
}

/** True where this machine would connect to the service itself. */
export function isOwnAddress(address: string, port: number, own: OwnAddress): boolean {
  if (port !== own.port || !ipaddr.isValid(address)) return false
  const plain = ipaddr.process(address)
  if (plain.range() === 'loopback' || plain.range() === 'unspecified') return true
  return Object.values(networkInterfaces())
    .flat()
    .some((found) => found !== undefined && ipaddr.process(found.address).toString() === plain.toString())
}

/** True for every address that is not a public one; also for text that is no address. */
export function isPrivateAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return true
  const plain = ipaddr.process(address)
  if (plain.range() !== 'unicast' || insideClouds(plain.toString())) return true
  return plain.kind() === 'ipv6' && !globalUnicast(plain.toString())
}
