// Timeouts for slow clients. A client beyond them is disconnected, and the change that it began is undone.

/** In milliseconds. */
export interface ClientTimeouts {
  /** The request line and the headers, together; also before the first request. */
  readonly headersMs: number
  /** For the next piece of a body, and for reading the next piece of an answer. */
  readonly silenceMs: number
  /** For a connection without requests. */
  readonly idleMs: number
  /** For receiving the rest of a refused body: many clients read the answer only after they have sent it all. */
  readonly lingerMs: number
}

export const usualTimeouts: ClientTimeouts = {
  headersMs: 20_000,
  silenceMs: 60_000,
  idleMs: 120_000,
  lingerMs: 5_000,
}
