// A private certificate authority, which no program trusts, and a certificate that it signed; made with openssl.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

export interface PrivateAuthority {
  /** Paths of files in PEM. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Makes both in `folder`; the certificate is for `host`, an IPv4 address or a name. */
export async function makePrivateAuthority(folder: string, host: string): Promise<PrivateAuthority> {
  const place = (name: string): string => join(folder, name)
  const [ca, caKey, cert, key, request, extensions] = [
    'ca.pem', 'ca-key.pem', 'cert.pem', 'key.pem', 'request.pem', 'extensions',
  ].map(place) as [string, string, string, string, string, string] // prettier-ignore
  const openssl = (...args: string[]): Promise<unknown> => run('openssl', args)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    ca,
    '-days',
    '2',
    '-subj',
    '/CN=Our own CA',
  )
  await openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${host}`)
  await writeFile(extensions, `subjectAltName=${/^[\d.]+$/.test(host) ? 'IP' : 'DNS'}:${host}\n`)
  await openssl(
    'x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-out', cert, '-days', '2',
    '-extfile', extensions,
  ) // prettier-ignore
  return { ca, cert, key }
}
