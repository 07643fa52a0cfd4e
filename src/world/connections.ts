// Connections to other machines, before anything is known of these: undici's words, and no other.

import type { Dispatcher } from 'undici'

export type Request = Dispatcher.RequestOptions & { readonly signal: AbortSignal }
export type Response = Dispatcher.ResponseData

export interface Connections {
  /** A connection is taken until the answer's body has been read to its end, or given up. */
  request(request: Request): Promise<Response>
  /**
   * Two requests at once on one connection, in this order; through a proxy the second follows the answer to the first.
   * Neither is ever sent a second time. The second's body is in memory.
   */
  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> }
  /** Requests from now on use new connections; those under way finish on theirs. */
  renew(): void
  /** Requests under way fail. */
  destroy(): Promise<void>
}
