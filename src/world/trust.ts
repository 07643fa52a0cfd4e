// Trusted certificate authorities: those of Node.js (its own list, and the file NODE_EXTRA_CA_CERTS), and a private one from a
// file.

import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import * as tls from 'node:tls'
import { SettingError } from './setting-error.ts'

/** Returns Node's authorities and those in `caFile`; undefined (Node's default) without a file. Throws SettingError. */
export function trustWith(caFile: string | undefined): SecureContext | undefined {
  if (caFile === undefined) return undefined
  let text: string
  try {
    text = readFileSync(caFile, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SettingError(`cannot read the certificates in ${caFile}: ${code ?? message}`, { cause: error })
  }
  const none = `${caFile} holds no certificate (PEM): name the file of the authority that signed the service's`
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new SettingError(none)
  try {
    // `ca` replaces Node's list, so that is included.
    return createSecureContext({ ca: [...nodesAuthorities(), text] })
  } catch (error) {
    throw new SettingError(none, { cause: error })
  }
}

function nodesAuthorities(): readonly string[] {
  // Exists since Node 22.15.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] }
  return getCACertificates?.('default') ?? [...rootCertificates, ...extraAuthorities()]
}

function extraAuthorities(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'] ?? ''
  try {
    return file === '' ? [] : [readFileSync(file, 'utf8')]
  } catch {
    // Ignored: Node has warned of it at its start.
    return []
  }
}
