// The interface for starting the service, used by the command line and by programs that embed it.

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
   * Folder of everything durable: database, blobs, signing secret. It is locked: one service per folder. With `database` it has
   * the larger contents only, and is shared by all nodes; absent if those are in a bucket.
   */
  readonly dataDir?: string
  /** PostgreSQL, shared by all nodes. Absent: an embedded database in `dataDir`. */
  readonly database?: PostgresAddress
  /** With `database`: S3 bucket for contents above 32 KiB. Absent: they are in `dataDir`. */
  readonly blobs?: S3Address
  /** Without `database`: scheduled backups. */
  readonly backups?: BackupPlan
  /** With `database`: milliseconds that content without a reference is kept. Default: a day. */
  readonly graceMs?: number
  readonly host?: string
  /** 0 = any free port. */
  readonly port?: number
  /** Projects that are made at start if they are missing, each with a new key. */
  readonly projects?: readonly string[]
  /** False: projects made at start get no key. Default: true; the keys are in `Service.projects`. */
  readonly makesKeys?: boolean
  readonly log?: Log
  /** A line per answered request. Default: `log`. */
  readonly accessLog?: Log
  /** A line per change. Default: `log`. */
  readonly auditLog?: Log
  /** Address for Prometheus; port 0: any free one. Absent: no metrics. */
  readonly metrics?: MetricsAddress
  /** Certificate and key, PEM: the service then speaks TLS only. */
  readonly tls?: TlsFiles
  /** Milliseconds that requests under way may take when the service closes. Default: 1,000. */
  readonly drainMs?: number
  /** Lifetime of presigned URLs in milliseconds; 15 minutes (interface, "Limits") unless a test says otherwise. */
  readonly urlLifetimeMs?: number
  /** Origin of presigned links: `https://documents.example`. Default: the address that the client connected to. */
  readonly publicUrl?: string
  /** Proxies (addresses or CIDR) whose X-Forwarded-For, -Proto and -Host are trusted. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Limits that differ from `defaultLimits`; 0 means no limit. */
  readonly limits?: Partial<Limits>
  /** Lets `uri` uploads be fetched from private addresses. From the service itself only its own links are ever fetched. */
  readonly allowPrivateUris?: boolean
  /** Called with the HTTP server before the routes are added; hooks added here run for every request, before authentication. */
  readonly extend?: (app: FastifyInstance) => void
}

/** A project of `ServiceOptions.projects`; `apiKey` is defined only if the project was made at this start. */
export interface AnnouncedProject {
  readonly name: string
  readonly apiKey: string | undefined
}

export interface Service {
  /** Ends with `/api`. */
  readonly baseUrl: string
  readonly port: number
  readonly projects: readonly AnnouncedProject[]
  /** Makes a key for a project, or for the part of it that `scope` names, and returns it; only its hash is stored. */
  createKey(project: string, scope?: Partial<KeyScope>): Promise<string>
  /** URL of the metrics; undefined if they are off. */
  readonly metricsUrl: string | undefined
  /** Reads certificate and key again at once. Without a call, changes are noticed within seconds. */
  reload(): void
  /** Refuses new requests, waits up to `drainMs` for those under way, then ends. */
  close(): Promise<void>
}
