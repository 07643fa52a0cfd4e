// How the service is started: the shape that the command and programs that embed it rely on.

import type { FastifyInstance } from 'fastify'
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
  /** Given the HTTP side before the routes are added: its hooks run for every request, before authentication. */
  readonly extend?: (app: FastifyInstance) => void
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
  /** The address at which Prometheus asks; undefined where metrics are off. */
  readonly metricsUrl: string | undefined
  /** Reads certificate and key again. They are looked at every few seconds anyhow. */
  reload(): void
  /** Sends newcomers elsewhere, gives those under way `drainMs`, then ends. */
  close(): Promise<void>
}
