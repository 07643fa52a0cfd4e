// How long a slow client is waited for. A slower one is cut: the change it began is undone.

/** In milliseconds. */
export interface ClientTimeouts {
  /** The request line and the headers, together; also before the first request. */
  readonly headersMs: number
  /** Of a body of which nothing comes, or an answer of which nothing is taken. */
  readonly silenceMs: number
  /** Of a connection on which nothing happens. */
  readonly idleMs: number
  /** How long the rest of a refused body is taken, so that the client hears why. */
  readonly lingerMs: number
}

export const usualTimeouts: ClientTimeouts = {
  headersMs: 20_000,
  silenceMs: 60_000,
  idleMs: 120_000,
  lingerMs: 5_000,
}
