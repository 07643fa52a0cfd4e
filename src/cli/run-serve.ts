// Implements `docmount serve`: runs the service in the foreground until SIGINT or SIGTERM. SIGHUP reloads the certificate.

import { isatty } from 'node:tty'
import { notifySystemd } from '../daemon/systemd-notify.ts'
import type { AnnouncedProject, Service } from '../service/contract.ts'
import { parseNetworks } from '../service/edge/networks.ts'
import { parsePublicUrl } from '../service/edge/origins.ts'
import type { Limits } from '../service/limits.ts'
import type { Address } from './address.ts'
import { type DatabaseOptions, databaseOf } from './database-options.ts'
import { openServiceLogs } from './service-logs.ts'
import { shellWord } from './shell-word.ts'
import { UsageError } from './usage-error.ts'

/** Options as commander parsed them: durations in milliseconds, sizes in bytes. */
export interface ServeOptions extends DatabaseOptions {
  readonly data?: string
  readonly blobs?: string
  readonly s3Direct?: boolean
  readonly listen: Address
  readonly project: readonly string[]
  readonly publicUrl?: string
  readonly trustProxy: readonly string[]
  readonly cert?: string
  readonly key?: string
  readonly drain: number
  readonly limit?: Partial<Limits>
  readonly backupTo?: string
  readonly backupEvery: number
  readonly backupKeep: number
  readonly metricsListen?: Address
  readonly log?: string
  readonly accessLog?: string
  readonly auditLog?: string
  readonly logSize: number
  readonly logKeep: number
  readonly json?: boolean
  readonly checkDatabase?: boolean
  readonly allowPrivateUris?: boolean
  readonly verbose?: boolean
}

export async function runServe(options: ServeOptions): Promise<void> {
  // Registered first: a signal during the start stops the service right after it.
  const signal = firstSignal()
  // A closed terminal must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const { data, blobs, s3Direct: isDirect = false, cert, key, publicUrl, metricsListen, limit } = options
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--cert and --key go together')
  const database = databaseOf(options)
  if (data === '') throw new UsageError('--data is empty: name a folder')
  if (data === undefined && (database === undefined || blobs === undefined))
    throw new UsageError('--data is missing: a folder for what the service keeps (or --database and --blobs)')
  if (options.backupTo !== undefined && (database !== undefined || data === undefined))
    throw new UsageError(
      '--backup-to is for a data folder with its own database: of --database, run pg_dump and copy the contents after it',
    )
  if (isDirect && blobs === undefined) throw new UsageError('--s3-direct needs --blobs')
  parseNetworks(options.trustProxy)
  if (publicUrl !== undefined) parsePublicUrl(publicUrl)
  if (options.checkDatabase === true) {
    const { checkDatabase } = await import('./check-database.ts')
    return checkDatabase(options, database === undefined ? { dataDir: data! } : { database })
  }
  const { log, access, audit } = openServiceLogs(options)
  // Loaded only now, because that takes most of the start: wrong options are refused before.
  const { startService } = await import('../service/start-service.ts')
  const service = await startService({
    ...(data === undefined ? {} : { dataDir: data }),
    ...(blobs === undefined ? {} : { blobs: { url: blobs, redirectsDownloads: isDirect } }),
    ...(database === undefined ? {} : { database }),
    ...(options.backupTo === undefined
      ? {}
      : { backups: { to: options.backupTo, everyMs: options.backupEvery, keep: options.backupKeep } }),
    host: options.listen.host,
    port: options.listen.port,
    projects: options.project,
    // Keys are made only if they are shown to a person or script: an unseen one would stay valid for ever.
    makesKeys: options.json === true || isatty(1),
    trustProxy: options.trustProxy,
    drainMs: options.drain,
    allowPrivateUris: options.allowPrivateUris === true,
    log,
    accessLog: access,
    auditLog: audit,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(metricsListen === undefined ? {} : { metrics: metricsListen }),
    ...(limit === undefined ? {} : { limits: limit }),
  })
  process.on('SIGHUP', () => service.reload())
  notifySystemd('ready')
  console.log(options.json === true ? announcement(service) : greeting(service, storeOption(options)))
  await signal
  await service.close()
}

function announcement({ baseUrl, projects, metricsUrl }: Service): string {
  return JSON.stringify({
    base_url: baseUrl,
    ...(metricsUrl === undefined ? {} : { metrics_url: metricsUrl }),
    projects: projects.map(({ name, apiKey }) => ({
      name,
      ...(apiKey === undefined ? {} : { api_key: apiKey }),
    })),
  })
}

/** Returns the message for a terminal. Only a terminal gets keys: other output may be a log. */
function greeting({ baseUrl, projects }: Service, place: string): string {
  if (projects.length === 0) {
    return `The service listens at ${baseUrl} and has no project yet: start it with --project NAME.`
  }
  const keyed = projects.find((project) => project.apiKey !== undefined)
  const shown = keyed ?? projects[0]!
  return [
    `The service listens at ${baseUrl} until Ctrl-C.`,
    ...projects.map((project) => describe(project, place)),
    '',
    'In another terminal:',
    `  docmount login --base-url ${baseUrl}    # asks for the key`,
    `  docmount mount ${shellWord(shown.name)}`,
  ].join('\n')
}

/** Returns the options by which other commands find this service. */
function storeOption({ data, database }: ServeOptions): string {
  return database === undefined ? `--data ${shellWord(data ?? '')}` : `--database ${shellWord(database)}`
}

function describe({ name, apiKey }: AnnouncedProject, place: string): string {
  return apiKey === undefined
    ? `  project ${name}   (a new key: docmount keys create ${shellWord(name)} ${place})`
    : `  project ${name}   key ${apiKey}   (shown this once)`
}

/** Resolves at the first SIGINT or SIGTERM. A second one kills the process. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
