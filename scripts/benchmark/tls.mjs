// TLS of docmount's service, in a run that has it: see with-tls.

import { join } from 'node:path'

const folder = process.env['BENCH_TLS']

export const scheme = folder === undefined ? 'http' : 'https'

/** For `docmount serve`. */
export const serveWithTls =
  folder === undefined ? [] : ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')]
