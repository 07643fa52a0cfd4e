// Whose certificates are believed: those Node.js believes (its own list, and what NODE_EXTRA_CA_CERTS names), and those of a
// private authority.

import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import * as tls from 'node:tls'
import { SettingError } from './setting-error.ts'

/** Undefined where there is no file: Node's own way. Throws SettingError for a file that has none. */
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
    // A list of one's own takes the place of Node's.
    return createSecureContext({ ca: [...usual(), text] })
  } catch (error) {
    throw new SettingError(none, { cause: error })
  }
}

function usual(): readonly string[] {
  // From Node 22.15 on.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] }
  return getCACertificates?.('default') ?? [...rootCertificates, ...extra()]
}

function extra(): readonly string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'] ?? ''
  try {
    return file === '' ? [] : [readFileSync(file, 'utf8')]
  } catch {
    // Node has warned of it at its start.
    return []
  }
}
