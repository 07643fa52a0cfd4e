// Transport of a client's requests: one request sent, one answer given back, what went wrong named. Follows no
// redirect, repeats nothing, sets no time limit of its own but the one for connecting: time belongs to `deadline.ts`.
// Two ways out: the one for downloads is never given the key, since a presigned URL may be on any host.

import type { CallDescription } from './network-error.ts'

export interface TransportRequest {
  readonly call: CallDescription
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Scheme, host and port; of calls, the service's. */
  readonly origin: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Record<string, string>
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  /** One value of a header, by its lower-case name. */
  header(name: string): string | undefined
  /** The body. Iterate to its end or call `discard`, or the connection stays taken. Throws NetworkError. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Gives the body up, closing the connection. */
  discard(): void
}

/** Bytes of the answer's body, if its header tells. */
export function bodyLengthOf(answer: Answer): number | undefined {
  const length = answer.header('content-length')
  return length === undefined ? undefined : Number(length)
}

export interface Transport {
  /** To the service; headers may carry the key. Throws NetworkError, or what the body's source threw. */
  api(request: TransportRequest): Promise<Answer>
  /**
   * Both to the service, at once and on one connection, in this order, each sent once at most; through a proxy one after the
   * other. The second's body is in memory. Each answer is read to its end. Throw NetworkError.
   */
  together(
    first: TransportRequest,
    second: TransportRequest,
  ): { first: Promise<Answer>; second: Promise<Answer> }
  /** To a presigned URL. Throws NetworkError. */
  download(request: TransportRequest): Promise<Answer>
  /** Requests from now on use new connections; those under way finish on theirs. */
  renew(): void
  /** Closes every connection; calls under way fail as `cut`. */
  close(): Promise<void>
}
