// Limits per client. A client is an IP address, since all use the same password.

export interface ClientLimits {
  /** Connections of all clients together. One more closes a connection of the client that has most. */
  readonly connections: number
  /** Locks of one client, and empty documents that its LOCKs created, which outlast their locks. */
  readonly locks: number
}

/** Thousands of locks, since davfs2 locks each document it creates, and sends the content ten seconds later. */
export const usualLimits: ClientLimits = { connections: 256, locks: 5_000 }
