// The faults there are, whom they hit, and what is noted of a request.

export interface Call {
  readonly endpoint: 'projects' | 'files' | 'download' | 'tables'
  readonly method: string
  /** The document's path (`/a/b.pdf`), or the request's path for endpoints without one. */
  readonly path: string
  /** The Range header of a download. */
  readonly range: string | undefined
  /** Set once answered. */
  status: number | undefined
}

/** One way to misbehave. */
export type Fault =
  /** Waits before anything is done. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Answers this status instead of doing anything; 429 and 503 may carry Retry-After (seconds). */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  /** Answers with this page (200, HTML) instead of doing anything, as a portal in between does; chunked where not `isSized`. */
  | { readonly kind: 'page'; readonly body: string; readonly isSized: boolean; readonly etag?: string }
  /** Does everything, then answers 500, or this: 409, as where a balancer has sent the request twice. */
  | { readonly kind: 'error-after-commit'; readonly status?: number }
  /** Answers a DELETE with 202, and carries it out so many milliseconds later. */
  | { readonly kind: 'late-delete'; readonly ms: number }
  /** Does everything, then cuts the connection without an answer. */
  | { readonly kind: 'lost-answer' }
  /** Cuts the connection after this many bytes of the request's body; nothing is stored. */
  | { readonly kind: 'cut-request'; readonly afterBytes: number }
  /** Cuts the connection after this many bytes of the answer's body. */
  | { readonly kind: 'cut-response'; readonly afterBytes: number }
  /** Sends the answer's body at this pace. */
  | { readonly kind: 'slow-drip'; readonly bytesPerSecond: number }
  /** Treats the presigned URL as expired (403). */
  | { readonly kind: 'expired-url' }
  /** Answers a ranged download with 200 and everything. */
  | { readonly kind: 'ignore-range' }
  /** Leaves optional fields out of File objects. */
  | {
      readonly kind: 'omit-fields'
      readonly fields: readonly ('size' | 'mimetype' | 'modified_at' | 'url')[]
    }
  /** Puts these before a folder's own entries, whatever they are. */
  | { readonly kind: 'odd-entries'; readonly entries: readonly unknown[] }
  /** Answers a folder's GET with its listing as it was this many milliseconds ago, or at this moment since the epoch. */
  | { readonly kind: 'stale-listing'; readonly ageMs: number }
  | { readonly kind: 'stale-listing'; readonly asOf: number }
  /** Stores so many bytes of something else in place of what a `uri` leads to. */
  | { readonly kind: 'short-copy'; readonly bytes: number }
  /** Accepts nothing by `uri`: answers 400, or this. */
  | { readonly kind: 'refuse-uri'; readonly status?: number }

/** Which requests a fault hits; absent = any. */
export interface FaultTarget {
  readonly endpoint?: Call['endpoint']
  readonly method?: string
  readonly path?: string | RegExp
  /** How many requests it hits before it is spent; absent = until cleared. */
  readonly times?: number
  /** 0 … 1, drawn from `random` per request; absent = always. */
  readonly probability?: number
}

export interface Faults {
  /** Switches a fault on; the answer switches it off. Off otherwise: a service without faults injected never misbehaves. */
  inject(fault: Fault, target?: FaultTarget): () => void
  clear(): void
  /** How many requests were hit so far. */
  readonly hits: number
  /** Source of chance for `probability`, so that runs replay. */
  random: () => number
}
