// How much clients get. A client is an address: all say the same password.

export interface ClientLimits {
  /** Of all clients together. When they are all in use, the client that has the most gives one up. */
  readonly connections: number
  /** Locks of one client. The same number bounds the empty documents that its LOCKs made, which outlast their locks. */
  readonly locks: number
}

/** Davfs2 locks each document it makes, and fills it ten seconds later: a long copy holds thousands. */
export const usualLimits: ClientLimits = { connections: 256, locks: 5_000 }
