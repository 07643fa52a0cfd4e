// Interface that sends a client's requests: one HTTP request, one response, or a NetworkError. It follows no redirects, repeats
// nothing, and limits only the time for connecting (`api/deadline.ts` limits the rest). Downloads use connections of their
// own, and never get the key: a presigned URL may be on any host.

import type { CallDescription } from './network-error.ts'

export interface TransportRequest {
  readonly call: CallDescription
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Scheme, host and port; for `callService` and `together`, those of the service. */
  readonly origin: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Record<string, string>
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  /** Returns the first value of a header; `name` is in lower case. */
  header(name: string): string | undefined
  /** The body. The connection stays taken until it is read to its end, or `discard` is called. Throws NetworkError. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Closes the connection, without reading the rest of the body. */
  discard(): void
}

/** Returns the value of Content-Length in bytes; undefined without that header. */
export function bodyLengthOf(answer: Answer): number | undefined {
  const length = answer.header('content-length')
  return length === undefined ? undefined : Number(length)
}

export interface Transport {
  /** Sends a request to the service; its headers may contain the key. Throws NetworkError, and errors of the body's source. */
  callService(request: TransportRequest): Promise<Answer>
  /**
   * Sends two requests to the service at once, in this order and on one connection, each at most once: DELETE and PUT of a
   * save, in one round trip. Through a proxy, one after the other. The second's body must be in memory, and the caller must read
   * both responses to their ends. Both promises reject with NetworkError.
   */
  together(
    first: TransportRequest,
    second: TransportRequest,
  ): { first: Promise<Answer>; second: Promise<Answer> }
  /** Sends a request to a presigned URL. Throws NetworkError. */
  download(request: TransportRequest): Promise<Answer>
  /** Later requests use new connections; those under way finish on theirs. */
  renew(): void
  /** Closes every connection; requests under way fail with NetworkError "cut". */
  close(): Promise<void>
}
