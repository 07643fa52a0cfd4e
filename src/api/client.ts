// The typed client of the Project Document Service: HTTP in, objects out. Knows no filesystem, keeps no cache.

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
  /** Connections per host, for calls and for downloads each. Default 32. */
  readonly connections?: number
  /** Milliseconds for a JSON call, retries included. Default 30,000. Uploads and reconciliation have their own. */
  readonly deadlineMs?: number
  /** Bytes of bodies that go out in a second, and as many that come in. Default: no limit. */
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
  /** The projects the key may see. Throws ApiError, NetworkError. */
  projects(options?: CallOptions): Promise<readonly Project[]>
  /** Throws InputError for a name no URL can carry. Asks the service nothing. */
  files(project: string): Files
  /** Throws InputError for a name no URL can carry. Asks the service nothing. */
  tables(project: string): Tables
  /** Closes every connection; calls under way fail. */
  close(): Promise<void>
}

/** Connects at the first call. Throws InputError for a base URL that is none, SettingError for network settings that cannot be. */
export function createClient(options: ClientOptions): Client {
  const { deadlineMs = 30_000, userAgent = 'docmount', log = silentLog, onRequest, bytesPerSecond } = options
  const { world = realWorld() } = options
  const bandwidth = (): Bandwidth | undefined =>
    bytesPerSecond === undefined
      ? undefined
      : new Bandwidth({
          bytesPerSecond,
          now: world.clock.monotonic,
          wait: (ms, signal) => sleep(world.clock, ms, { signal }),
        })
  const transport = world.network.open(options.connections ?? 32, options.network)
  const call = createCaller({
    ...parseBaseUrl(options.baseUrl),
    transport,
    keys: createKeyHolder(options.apiKey),
    userAgent,
    deadlineMs,
    bandwidth: bandwidth(),
    onRequest,
    log,
    world,
  })
  const download = createDownloader({
    transport,
    userAgent,
    stallMs: deadlineMs,
    clock: world.clock,
    bandwidth: bandwidth(),
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
    close: () => transport.close(),
  }
}

function parseBaseUrl(text: string): { origin: string; basePath: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new InputError('the base URL must look like https://host/api')
  }
  // A user name, a query or a fragment would silently not be sent.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InputError('the base URL must be scheme, host and path only: https://host/api')
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') }
}
