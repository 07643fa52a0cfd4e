// The error of a request without a usable response; `api/errors.ts` exports it with the client's other errors. Format of its
// messages: `PUT /reports/a.pdf: no connection: …`. They contain no key and no presigned URL.

import { ExpectedError } from '../expected-error.ts'
import { printable } from '../printable.ts'

export interface CallDescription {
  readonly method: string
  /** The document's path inside the project, or the endpoint's path for other calls. */
  readonly path: string
}

/**
 * - `unreachable`: no connection (refused, DNS, TLS): the request cannot have been stored.
 * - `away`: not sent, or given up, because the service is known to be unreachable: nothing was stored.
 * - `cut`: the connection ended before the whole answer came: the outcome is unknown.
 * - `deadline`: our own deadline passed: the outcome is unknown.
 * - `protocol`: the answer is not what the interface says (bad JSON, wrong shape, a redirect).
 */
export type NetworkErrorKind = 'unreachable' | 'away' | 'cut' | 'deadline' | 'protocol'

/** A request without a usable response. An aborted call rejects with the signal's reason instead. */
export class NetworkError extends ExpectedError {
  override readonly name = 'NetworkError'
  override readonly isTemporary = true
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
