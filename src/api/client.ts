// The typed client of the Project Document Service: HTTP in, objects out. Independent of file systems; no cache.

import { sleep } from '../world/clock.ts'
import type { NetworkSettings } from '../world/network.ts'
import { realWorld, type World } from '../world/world.ts'
import { Bandwidth } from './bandwidth.ts'
import { InputError } from './errors.ts'
import { createCaller } from './caller.ts'
import { createDownloader } from './download.ts'
import { createFiles } from './files.ts'
import { createKeyHolder } from './key-holder.ts'
import type { Tables } from './table-types.ts'
import { createTables } from './tables.ts'
import type { CallOptions, Files, KeySource, Project, RequestRecord } from './types.ts'
import { projectsFromWire } from './wire.ts'
import { silentLog } from '../log.ts'
import type { Log } from '../log.ts'

export interface ClientOptions {
  /** The service root, `/api` included: `https://host/api`. */
  readonly baseUrl: string
  readonly apiKey: KeySource
  /** Most connections per host: as many for calls, and as many for downloads. Default 32. */
  readonly connections?: number
  /** Milliseconds for a JSON call, retries included. Default 30,000. Uploads and reconciliation have their own. */
  readonly deadlineMs?: number
  /** Limit of body bytes per second, for uploads and downloads each. Default: 0 = none. */
  readonly bytesPerSecond?: number
  readonly onRequest?: (record: RequestRecord) => void
  readonly userAgent?: string
  /** A proxy, a private certificate authority. Default: what the environment says. */
  readonly network?: NetworkSettings
  readonly log?: Log
  /** Time, chance, disk, network. Default: this machine's. */
  readonly world?: World
}

export interface Client {
  /** Returns the projects that the key may see. Throws ApiError, NetworkError. */
  projects(options?: CallOptions): Promise<readonly Project[]>
  /** Returns the project's files, without a request. Throws InputError for a name that no URL can contain. */
  files(project: string): Files
  /** Returns the project's tables, without a request. Throws InputError for a name that no URL can contain. */
  tables(project: string): Tables
  /** Changes the limit of body bytes per second, each way. 0 = none. A body under way that had none goes on without. */
  limit(bytesPerSecond: number): void
  /** Closes every connection; calls under way fail. */
  close(): Promise<void>
}

/** Returns a client, which connects at its first call. Throws InputError (base URL), SettingError (network settings). */
export function createClient(options: ClientOptions): Client {
  const {
    deadlineMs = 30_000,
    userAgent = 'docmount',
    log = silentLog,
    onRequest,
    bytesPerSecond = 0,
  } = options
  const { world = realWorld() } = options
  const bandwidth = (): Bandwidth =>
    new Bandwidth({
      bytesPerSecond,
      now: world.clock.monotonic,
      wait: (ms, signal) => sleep(world.clock, ms, { signal }),
    })
  const [up, down] = [bandwidth(), bandwidth()]
  const transport = world.network.open(options.connections ?? 32, options.network)
  const call = createCaller({
    ...parseBaseUrl(options.baseUrl),
    transport,
    keys: createKeyHolder(options.apiKey),
    userAgent,
    deadlineMs,
    bandwidth: up,
    onRequest,
    log,
    world,
  })
  const download = createDownloader({
    transport,
    userAgent,
    stallMs: deadlineMs,
    clock: world.clock,
    bandwidth: down,
    onRequest,
  })

  return {
    async projects(callOptions) {
      const target = '/projects'
      const answer = await call({
        method: 'GET',
        path: target,
        target,
        repeatable: 'freely',
        options: callOptions,
      })
      return projectsFromWire({ method: 'GET', path: target }, answer)
    },
    files: (project) => createFiles(project, call, download, world.clock),
    tables: (project) => createTables(project, call, world),
    limit(rate) {
      up.limit(rate)
      down.limit(rate)
    },
    close: () => transport.close(),
  }
}

function parseBaseUrl(text: string): { origin: string; basePath: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new InputError('the base URL must look like https://host/api')
  }
  // Refused, because a user name, query or fragment would be dropped without notice.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InputError('the base URL must be scheme, host and path only: https://host/api')
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') }
}
