// The value of `--listen`: the address and port on which a server listens.

import { InvalidArgumentError } from 'commander'

export interface Address {
  readonly host: string
  readonly port: number
}

/** Parses `HOST:PORT`, `[IPv6]:PORT` or `:PORT` (then 127.0.0.1). Throws commander's usage error. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535)
    throw new InvalidArgumentError('Write HOST:PORT, for instance 127.0.0.1:8080.')
  const host = match[1] ?? match[2] ?? ''
  return { host: host === '' ? '127.0.0.1' : host, port }
}

/** True where only programs on this machine can connect. */
export function isLoopback({ host }: Address): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
