// Starts and closes the service: all resources are opened here one after the other, and closed in reverse order.

import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { type Log, silentLog } from '../log.ts'
import { auditSoon, noteChange } from './admin/administration.ts'
import { listenForAdmin } from './admin/socket.ts'
import { createApp } from './app.ts'
import { BackupSchedule } from './backup/schedule.ts'
import type { ServiceContext } from './context.ts'
import { prepareDataDir } from './data-dir.ts'
import { Drain } from './edge/drain.ts'
import { type Edge, openEdge } from './edge/edge.ts'
import { type OpenSockets, openSocketsOf } from './edge/open-sockets.ts'
import { RequestRates } from './edge/request-rates.ts'
import type { AnnouncedProject, Service, ServiceOptions } from './contract.ts'
import { createSigner } from './downloads/signer.ts'
import { KeyUse } from './key-use.ts'
import { OpenedKeys } from './opened-keys.ts'
import type { MetricsListener } from './observe/metrics.ts'
import type { Store } from './store/database.ts'
import { type Limits, defaultLimits } from './limits.ts'
import { listenErrorOf, StartError } from './start-error.ts'
import { DetachedTrees } from './store/detached-trees.ts'
import { openStore } from './store/open-store.ts'
import type { OpenedStore, StorePlace } from './store/opened-store.ts'
import { Matching } from './tables/matching.ts'
import { oneByOne, removeRuns } from './tables/remove-tables.ts'
import { createKey } from './store/keys.ts'
import { checkProjectName, ensureProject, findProject, listProjects } from './store/projects.ts'
import { lockDataDir } from './store/service-lock.ts'
import { defaultUriPolicy } from './uploads/fetch-uri.ts'

const urlLifetimeMs = 15 * 60_000
const drainMs = 1_000
const minuteMs = 60_000
const auditMs = 5_000
/** Time after the drain for connections that end slowly. */
const lingerMs = 1_000

/**
 * Starts the service over `options.dataDir`. Throws a StartError when another one uses that folder or the address, and for
 * options that it cannot serve with.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host = '127.0.0.1' } = options
  const edge = openEdge(options)
  const names = [...new Set(options.projects)]
  names.forEach(checkProjectName)
  const closing = new AbortController()
  /** Run last to first. */
  const closers: (() => unknown)[] = []
  const closeAll = async (): Promise<void> => {
    closing.abort()
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const place = placeOf(options)
    if (place.dataDir !== undefined) await prepareDataDir(place.dataDir, place.database !== undefined)
    if (place.database === undefined) closers.push(lockDataDir(place.dataDir))
    const opened = await openStore(place, options.log)
    closers.push(() => opened.close())
    const context = await openContext(options, edge, place, opened)
    // At the first moment of closing, because the closers before it may take long (a sweep, a statement to PostgreSQL).
    closing.signal.addEventListener('abort', () => context.drain.begin(), { once: true })
    closers.push(() => context.matching.close())
    closers.push(() => context.metrics?.close())
    closers.push(() => context.blobs.whenIdle())
    closers.push(() => context.keyUse.whenIdle())
    if (place.database === undefined) closers.push(await listenForAdmin(context, place.dataDir))
    closers.push(() => context.detachedTrees.stop())
    closers.push(() => context.tidying.stop())
    if (context.backups !== undefined) {
      const { backups } = context
      const running = backups.run()
      closers.push(async () => {
        backups.stop()
        await running
      })
    }
    const metrics = await listenForMetricsOf(context, options)
    closers.push(() => metrics?.close())
    const app = await createApp(context, options.extend)
    const sockets = openSocketsOf(app.server)
    closers.push(() => closeApp(app, sockets, context, options.drainMs ?? drainMs))
    await app.listen({ host, port: options.port ?? 0 }).catch((error: unknown) => {
      throw listenErrorOf(error, host, options.port ?? 0)
    })
    // Last: a start that fails after this would have made keys that nobody is ever shown.
    const projects = await announceProjects(context.store, names, {
      now: context.now(),
      makesKeys: options.makesKeys ?? true,
    })
    context.detachedTrees.startClearing()
    if (opened.isShared) closers.push(every(minuteMs, () => context.detachedTrees.startClearing()))
    closers.push(every(auditMs, () => auditSoon(context)))
    auditSoon(context)
    closers.push(every(minuteMs, () => removeOldRuns(context)))
    removeOldRuns(context)
    const { tallies } = opened
    if (tallies !== undefined) {
      const sharing = context.rates.share(tallies, context.log, closing.signal)
      closers.push(() => sharing)
    }
    context.tidying.ask()
    const sweep = context.blobs
      .sweep(closing.signal)
      .catch((error: unknown) => context.log.error({ error }, 'could not look for content nothing refers to'))
    closers.push(() => sweep)

    const { certificate } = edge
    // Fastify's types do not tell whether it speaks TLS.
    const tlsServer = app.server as unknown as TlsServer
    closers.push(certificate?.watch(tlsServer, context.log) ?? (() => undefined))

    const { address, port } = app.server.address() as AddressInfo
    const baseUrl = `${certificate === undefined ? 'http' : 'https'}://${reachable(address)}:${port}/api`
    context.log.info(
      { baseUrl, dataDir: options.dataDir, projects: projects.map((project) => project.name) },
      'the service is listening',
    )
    return {
      baseUrl,
      port,
      projects,
      createKey: async (name, scope) => {
        const project = await findProject(context.store, name)
        if (project === undefined) throw new StartError(`there is no project ${name}`)
        return (await createKey(context.store, { ...scope, projectIds: [project.id] }, context.now())).key
      },
      metricsUrl: metrics?.url,
      reload: () => certificate?.reload(tlsServer, context.log),
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function openContext(
  options: ServiceOptions,
  edge: Edge,
  place: StorePlace,
  opened: OpenedStore,
): Promise<ServiceContext> {
  const { dataDir, log = silentLog } = options
  const { store, commits, now } = opened
  const limits = limitsOf(options, opened)
  const drain = new Drain()
  const blobs = await opened.openContents(log)
  const detachedTrees = new DetachedTrees(commits, blobs, log)
  const whenCleared = async (): Promise<void> => {
    await detachedTrees.whenIdle()
    await blobs.whenIdle()
  }
  const matching = new Matching(place, log, { bytes: limits.matchingBytes, threads: limits.matchingThreads })
  const backups = scheduleOf(options, log)
  const { certificate } = edge
  return {
    store,
    commits,
    isInPlace: () => opened.isInPlace?.() ?? true,
    matching,
    backups,
    detachedTrees,
    tidying: opened.tidying(whenCleared, log),
    keys: new OpenedKeys(store, () => commits.otherChangeCount),
    keyUse: new KeyUse(store, log),
    blobs,
    signer: createSigner(await opened.linkSecrets(), options.urlLifetimeMs ?? urlLifetimeMs),
    edge,
    limits,
    rates: new RequestRates(limits),
    drain,
    metrics:
      options.metrics === undefined
        ? undefined
        : (await import('./observe/metrics.ts')).createMetrics({
            dataDir,
            drain,
            opened,
            matching,
            certificate,
            backups,
          }),
    access: options.accessLog ?? log,
    audit: options.auditLog ?? log,
    uriPolicy: { ...defaultUriPolicy, allowPrivate: options.allowPrivateUris ?? false },
    now,
    log,
  }
}

/** Returns undefined without backups in the options. Throws a StartError for a store that cannot be backed up. */
function scheduleOf({ backups, dataDir, database }: ServiceOptions, log: Log): BackupSchedule | undefined {
  if (backups === undefined) return undefined
  if (database !== undefined || dataDir === undefined)
    throw new StartError('backups are of a data folder with its own database: of PostgreSQL, run pg_dump')
  return new BackupSchedule(backups, dataDir, log)
}

function placeOf({ dataDir, database, blobs, graceMs }: ServiceOptions): StorePlace {
  if (database !== undefined) return { database, dataDir, blobs, graceMs }
  if (blobs !== undefined) throw new StartError('contents in a bucket need a database that nodes share')
  if (dataDir === undefined)
    throw new StartError('the service needs a data folder, or a database and a bucket')
  return { dataDir }
}

/** The limits of the options. The store may limit paths further, also where the options set no limit (0). */
function limitsOf({ limits }: ServiceOptions, { maxPathBytes }: OpenedStore): Limits {
  const wanted = { ...defaultLimits, ...limits }
  const bounds = [wanted.pathBytes, maxPathBytes].filter((bytes) => bytes !== 0)
  return { ...wanted, pathBytes: bounds.length === 0 ? 0 : Math.min(...bounds) }
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms).unref()
  return () => clearInterval(timer)
}

function removeOldRuns({ store, limits, now, tidying, log }: ServiceContext): void {
  if (limits.keepRunsMs === 0) return
  removeRuns({ before: now() - limits.keepRunsMs }, oneByOne(store))
    .then((count) => (count === 0 ? undefined : tidying.ask()))
    .catch((error: unknown) => log.warn({ error }, 'could not remove old runs; it is tried again'))
}

/** Creates the missing projects of `names`. Returns these first, then all others of the store. */
async function announceProjects(
  store: Store,
  names: readonly string[],
  { now, makesKeys }: { readonly now: number; readonly makesKeys: boolean },
): Promise<AnnouncedProject[]> {
  const announced: AnnouncedProject[] = []
  for (const name of names) {
    const { project, isNew } = await ensureProject(store, name, now)
    const made = isNew && makesKeys ? await createKey(store, { projectIds: [project.id] }, now) : undefined
    if (isNew)
      await noteChange(
        store,
        {
          change: 'project made',
          by: 'docmount serve',
          project: name,
          keys: made === undefined ? [] : [made.id],
        },
        now,
      )
    announced.push({ name, apiKey: made?.key })
  }
  for (const { name } of await listProjects(store)) {
    if (!names.includes(name)) announced.push({ name, apiKey: undefined })
  }
  return announced
}

/** Its listener is closed last, so that metrics show a long closing, too. */
async function listenForMetricsOf(
  { metrics }: ServiceContext,
  options: ServiceOptions,
): Promise<MetricsListener | undefined> {
  if (metrics === undefined || options.metrics === undefined) return undefined
  const { listenForMetrics } = await import('./observe/metrics.ts')
  return listenForMetrics(metrics.registry, options.metrics)
}

async function closeApp(
  app: FastifyInstance,
  sockets: OpenSockets,
  { drain }: ServiceContext,
  waitMs: number,
): Promise<void> {
  const isDone = await drain.end(waitMs)
  const cut = setTimeout(() => sockets.destroyAll(), isDone ? lingerMs : 0)
  try {
    await app.close()
  } finally {
    clearTimeout(cut)
  }
}

/** Returns an address to connect to for one that the service listens on. */
function reachable(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return address.includes(':') ? `[${address}]` : address
}
