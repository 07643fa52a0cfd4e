// Options of a drive that is served by WebDAV.

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

/** Port 4918 is the number of WebDAV's RFC. */
export const defaultAddress: Address = { host: '127.0.0.1', port: 4918 }

export function addWebdavOptions(command: Command): void {
  command
    .option('--cert <file>', 'certificate (PEM) for WebDAV: use TLS')
    .option('--key <file>', 'the key of the certificate (PEM)')
    .option('--insecure', 'let other machines connect by WebDAV without TLS')
    .option('--host-name <name>', 'a host name by which clients reach it; may be repeated', collect)
}

/** Throws UsageError if the password would cross a network unencrypted, and nobody asked for that. */
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

/** Returns address, user and password. The password is shown only on a terminal: other output may be a log. */
export async function webdavAccessText({ url, user, passwordFile }: WebdavAddress): Promise<string> {
  const shown = process.stdout.isTTY
    ? await import('node:fs/promises').then(({ readFile }) => readFile(passwordFile, 'utf8'))
    : `in ${passwordFile}`
  return [`  address   ${url}/`, `  user      ${user}`, `  password  ${shown.trim()}`].join('\n')
}

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name]
}
