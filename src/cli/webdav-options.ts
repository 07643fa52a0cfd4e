// Options of a drive's WebDAV door, and what they may not be.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { WebdavAddress } from '../daemon/session-door.ts'
import type { WebdavSettings } from '../daemon/webdav-door.ts'
import { type Address, isLoopback } from './address.ts'
import { UsageError } from './usage-error.ts'

export interface WebdavCommandOptions {
  readonly cert?: string
  readonly key?: string
  readonly insecure?: boolean
  readonly hostName?: readonly string[]
}

/** The number of the RFC. */
export const defaultAddress: Address = { host: '127.0.0.1', port: 4918 }

export function addWebdavOptions(command: Command): void {
  command
    .option('--cert <file>', 'certificate (PEM) for WebDAV: use TLS')
    .option('--key <file>', 'the key of the certificate (PEM)')
    .option('--insecure', 'let other machines connect by WebDAV without TLS')
    .option('--host-name <name>', 'a host name by which clients reach it; may be repeated', collect)
}

/** Throws UsageError where the password would travel in the clear. */
export function webdavSettingsOf(address: Address, options: WebdavCommandOptions): WebdavSettings {
  const { cert, key, insecure = false, hostName = [] } = options
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--cert and --key go together')
  if (!isLoopback(address) && cert === undefined && !insecure) {
    throw new UsageError(
      `other machines can reach ${address.host}: add --cert and --key, or --insecure where the network is safe`,
    )
  }
  const absolute = (file: string | undefined) => (file === undefined ? undefined : resolve(file))
  return { ...address, cert: absolute(cert), key: absolute(key), hostNames: hostName }
}

/** How to get in. The password is shown to a person only: what is no terminal may be a journal. */
export async function wayIn({ url, user, passwordFile }: WebdavAddress): Promise<string> {
  const shown = process.stdout.isTTY
    ? await import('node:fs/promises').then(({ readFile }) => readFile(passwordFile, 'utf8'))
    : `in ${passwordFile}`
  return [`  address   ${url}/`, `  user      ${user}`, `  password  ${shown.trim()}`].join('\n')
}

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name]
}
