// How much clients get. A client is an address: all say the same password.

export interface ClientLimits {
  /** Of all clients together. When they are all in use, the client that has the most gives one up. */
  readonly connections: number
  /** Of one client; and as many documents that its LOCKs made, and that it neither filled nor unlocked. */
  readonly locks: number
}

/** Davfs2 locks each document it makes, and fills it ten seconds later: a long copy holds thousands. */
export const usualLimits: ClientLimits = { connections: 256, locks: 5_000 }
