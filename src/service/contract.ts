// How the service is started and made to misbehave: the shape tests, demo and benchmarks rely on.

import type { Log } from '../log.ts'
import type { BackupPlan } from './backup/schedule.ts'
import type { TlsFiles } from './edge/certificate.ts'
import type { Limits } from './limits.ts'
import type { MetricsAddress } from './observe/metrics.ts'
import type { S3Address } from './blobs/s3/address.ts'
import type { KeyScope } from './store/keys.ts'
import type { PostgresAddress } from './store/postgres/address.ts'

export interface ServiceOptions {
  /**
   * Everything durable lives here: database, blobs, signing secret. Locked: one service per folder. With `database` it holds
   * larger contents only, and is shared by all nodes; absent where those are in a bucket.
   */
  readonly dataDir?: string
  /** PostgreSQL, shared by all nodes; a database of its own in `dataDir` where absent. */
  readonly database?: PostgresAddress
  /** With `database`: S3, for contents above 32 KiB; `dataDir` where absent. */
  readonly blobs?: S3Address
  /** Without `database`: backups of itself. */
  readonly backups?: BackupPlan
  /** With `database`: how long content that nothing refers to is kept, in milliseconds; a day where absent. */
  readonly graceMs?: number
  readonly host?: string
  /** 0 = any free port. */
  readonly port?: number
  /** Made at start where missing, each with a fresh key. */
  readonly projects?: readonly string[]
  /** A project that is made gets a first key, which `Service.projects` tells. Default: true. */
  readonly makesKeys?: boolean
  readonly log?: Log
  /** A line per answered request; `log` where absent. */
  readonly accessLog?: Log
  /** A line per change; `log` where absent. */
  readonly auditLog?: Log
  /** Where Prometheus may ask; nobody listens and nothing is counted where absent. Port 0 = any free one. */
  readonly metrics?: MetricsAddress
  /** Certificate and key, PEM: the service then speaks TLS only. */
  readonly tls?: TlsFiles
  /** How long requests under way may take to end when the service closes, in milliseconds; 1,000 where absent. */
  readonly drainMs?: number
  /** Lifetime of presigned URLs in milliseconds; 15 minutes (interface, "Limits") unless a test says otherwise. */
  readonly urlLifetimeMs?: number
  /** The beginning of presigned links: `https://documents.example`. Where absent, the address that was connected to. */
  readonly publicUrl?: string
  /** Proxies (addresses or CIDR) whose X-Forwarded-For, -Proto and -Host are believed; none where absent. */
  readonly trustProxy?: readonly string[]
  /** Those that differ from `defaultLimits`; 0 is no limit. */
  readonly limits?: Partial<Limits>
  /** Lets `uri` uploads fetch private addresses; from the service's own, nothing is fetched but its links. */
  readonly allowPrivateUris?: boolean
  /** For tests: keeps every request and misbehaves on demand (`Service.faults` and `calls`). Off: nothing of it exists. */
  readonly faults?: boolean
}

/** A project as announced at start; `apiKey` only where one was just made. */
export interface AnnouncedProject {
  readonly name: string
  readonly apiKey: string | undefined
}

export interface Service {
  /** Ends with `/api`. */
  readonly baseUrl: string
  readonly port: number
  readonly projects: readonly AnnouncedProject[]
  /** A fresh key for a project, or for what of it the scope names; only its hash is stored. */
  createKey(project: string, scope?: Partial<KeyScope>): Promise<string>
  /** Here as with `calls` and `clearCalls`: throws TypeError unless started with `faults`. */
  readonly faults: Faults
  /** Every request since the last `clearCalls`, in order of arrival. */
  readonly calls: readonly Call[]
  clearCalls(): void
  /** The address at which Prometheus asks; undefined where metrics are off. */
  readonly metricsUrl: string | undefined
  /** Reads certificate and key again. They are looked at every few seconds anyhow. */
  reload(): void
  /** Sends newcomers elsewhere, gives those under way `drainMs`, then ends. */
  close(): Promise<void>
}

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
