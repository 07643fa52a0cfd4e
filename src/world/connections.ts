// Interface of a set of connections, in undici's types.

import type { Dispatcher } from 'undici'

export type Request = Dispatcher.RequestOptions & { readonly signal: AbortSignal }
export type Response = Dispatcher.ResponseData

export interface Connections {
  /** Sends a request. Its connection is taken until the response's body has been read to its end, or destroyed. */
  request(request: Request): Promise<Response>
  /**
   * Sends two requests at once on one connection, in this order; through a proxy, the second after the response to the first.
   * Neither is sent twice, even if the connection breaks. The second's body must be in memory, not a stream.
   */
  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> }
  /** Later requests use new connections (old ones may be dead); those under way finish on theirs. */
  renew(): void
  /** Closes all connections. Requests under way fail. */
  destroy(): Promise<void>
}
