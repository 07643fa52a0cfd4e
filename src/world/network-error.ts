// Error of a network: no usable answer came, and why. `api/errors.ts` hands it on with the client's other errors. One
// message format: `PUT /reports/a.pdf: no connection: …`. Never a key, never a URL with a signature.

import { printable } from '../printable.ts'

export interface CallDescription {
  readonly method: string
  /** The document's path inside the project, or the endpoint's path for other calls. */
  readonly path: string
}

/**
 * - `unreachable`: no connection (refused, DNS, TLS): the request cannot have been stored.
 * - `away`: not even tried, or given up, because the service is known to be out of reach: nothing was stored.
 * - `cut`: the connection ended before the whole answer came: the outcome is unknown.
 * - `deadline`: our own deadline passed: the outcome is unknown.
 * - `protocol`: the answer is not what the interface says (bad JSON, wrong shape, a redirect).
 */
export type NetworkErrorKind = 'unreachable' | 'away' | 'cut' | 'deadline' | 'protocol'

/** No usable answer came. Not thrown for an aborted call: that rejects with the signal's reason. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly method: string
  readonly path: string
  readonly kind: NetworkErrorKind

  constructor(call: CallDescription, kind: NetworkErrorKind, detail: string, options?: { cause?: unknown }) {
    super(printable(`${call.method} ${call.path}: ${detail}`), options)
    this.method = call.method
    this.path = call.path
    this.kind = kind
  }
}
