// Metrics for Prometheus, on a separate listener: they name projects and their load, which clients must not see.

import { statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyRequest } from 'fastify'
import {
  Counter,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  Registry,
  collectDefaultMetrics,
} from 'prom-client'
import type { BackupSchedule } from '../backup/schedule.ts'
import type { Certificate } from '../edge/certificate.ts'
import type { Drain } from '../edge/drain.ts'
import { countDetached } from '../store/detached.ts'
import type { OpenedStore } from '../store/opened-store.ts'
import { listLargest } from '../store/usage.ts'
import type { Matching } from '../tables/matching.ts'
import type { RequestRecord } from './request-record.ts'
import { watchStoreCalls } from './store-calls.ts'

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/** Projects with a label of their own; the others share the label `others`, so that the number of series is limited. */
const maxProjects = 200
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export interface Measured {
  readonly dataDir: string | undefined
  readonly drain: Drain
  readonly opened: Pick<OpenedStore, 'store' | 'sizes' | 'connections'>
  readonly matching: Matching
  readonly certificate: Certificate | undefined
  readonly backups: BackupSchedule | undefined
}

export interface Metrics {
  readonly registry: Registry
  count(record: RequestRecord, request: FastifyRequest): void
  /** Sets the server whose connections are counted. */
  watch(server: Server): void
  close(): void
}

export function createMetrics(measured: Measured): Metrics {
  const { dataDir, drain, opened, matching, certificate, backups } = measured
  const { store, sizes, connections } = opened
  const registry = new Registry()
  let watched: Server | undefined
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'docmount_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'endpoint', 'status'],
    registers,
  })
  const latency = new Histogram({
    name: 'docmount_request_seconds',
    help: 'From the headers of a request to the end of its answer.',
    labelNames: ['method', 'endpoint'],
    buckets: seconds,
    registers,
  })
  const bytes = new Counter({
    name: 'docmount_bytes_total',
    help: 'Bytes received and sent, headers included.',
    labelNames: ['project', 'direction'],
    registers,
  })
  const projectRequests = new Counter({
    name: 'docmount_project_requests_total',
    help: 'Requests of the project.',
    labelNames: ['project'],
    registers,
  })
  const gauge = (configuration: Omit<GaugeConfiguration<string>, 'registers'>): void =>
    registry.registerMetric(new Gauge({ ...configuration, registers: [] }))
  gauge({
    name: 'docmount_requests_under_way',
    help: 'Requests not answered yet.',
    collect() {
      this.set(drain.underWay)
    },
  })
  gauge({
    name: 'docmount_connections',
    help: 'Open connections.',
    async collect() {
      const count = await new Promise<number>((resolve) => {
        if (watched === undefined) resolve(0)
        else watched.getConnections((error, open) => resolve(error === null ? open : 0))
      })
      this.set(count)
    },
  })
  gauge({
    name: 'docmount_database_bytes',
    help: 'The database and what is not yet moved into it.',
    labelNames: ['file'],
    async collect() {
      for (const [file, bytes] of Object.entries(await sizes())) this.set({ file }, bytes)
    },
  })
  if (dataDir !== undefined) {
    gauge({
      name: 'docmount_disk_bytes',
      help: 'The disk of the data folder.',
      labelNames: ['kind'],
      async collect() {
        const disk = await statfs(dataDir)
        this.set({ kind: 'size' }, disk.blocks * disk.bsize)
        this.set({ kind: 'free' }, disk.bavail * disk.bsize)
      },
    })
  }

  gauge({
    name: 'docmount_matching_runs',
    help: 'Reconciliations, by whether they wait for their turn.',
    labelNames: ['state'],
    collect() {
      const { waiting, running } = matching.load
      this.set({ state: 'waiting' }, waiting)
      this.set({ state: 'running' }, running)
    },
  })
  gauge({
    name: 'docmount_clearing_folders',
    help: 'Deleted folders whose documents are not cleared yet.',
    async collect() {
      this.set(await countDetached(store))
    },
  })
  const storeLatency = new Histogram({
    name: 'docmount_store_call_seconds',
    help: 'Calls to the engines behind the service: PostgreSQL, S3.',
    labelNames: ['engine', 'operation', 'failed'],
    buckets: seconds,
    registers,
  })
  const unwatch = watchStoreCalls(({ engine, operation, ms, hasFailed }) =>
    storeLatency.observe({ engine, operation, failed: hasFailed ? 'yes' : 'no' }, ms / 1000),
  )
  // Metrics without values in this service are registered, too, so that the same dashboards and alerts fit all services.
  gauge({
    name: 'docmount_database_connections',
    help: 'Connections to PostgreSQL, and who waits for one.',
    labelNames: ['state'],
    collect() {
      for (const [state, count] of Object.entries(connections?.() ?? {})) this.set({ state }, count)
    },
  })
  gauge({
    name: 'docmount_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that is shown expires.',
    labelNames: ['file'],
    collect() {
      if (certificate !== undefined) this.set({ file: certificate.file }, certificate.validUntil / 1000)
    },
  })
  const ofBackups: readonly (readonly [
    name: string,
    help: string,
    valueOf: (of: BackupSchedule) => number,
  ])[] = [
    [
      'docmount_backup_timestamp_seconds',
      'When the latest whole backup was made; 0 where there is none.',
      ({ latestAt = 0 }) => latestAt / 1000,
    ],
    ['docmount_backup_interval_seconds', 'How often backups are made.', ({ everyMs }) => everyMs / 1000],
    ['docmount_backup_failures', 'Backups that failed since the start.', ({ failures }) => failures],
  ]
  for (const [name, help, valueOf] of ofBackups) {
    gauge({
      name,
      help,
      labelNames: ['to'],
      collect() {
        if (backups !== undefined) this.set({ to: backups.to }, valueOf(backups))
      },
    })
  }

  // Both gauges share one query: with many projects it blocks the event loop for a while.
  let reading: ReturnType<typeof listLargest> | undefined
  const readLargest = (): ReturnType<typeof listLargest> =>
    (reading ??= listLargest(store, maxProjects).finally(() => (reading = undefined)))
  for (const kind of ['documents', 'bytes'] as const) {
    gauge({
      name: `docmount_project_${kind}`,
      help: `What the largest projects hold: ${kind}.`,
      labelNames: ['project'],
      async collect() {
        this.reset()
        for (const usage of await readLargest()) this.set({ project: usage.name }, usage[kind])
      },
    })
  }
  /** By project id. A download has no key, so its project has a name here only after another request. */
  const names = new Map<string, string>()
  const labelOf = ({ project, downloadOf }: FastifyRequest): string => {
    if (project === undefined) return downloadOf === undefined ? 'none' : (names.get(downloadOf) ?? 'none')
    if (names.size < maxProjects) names.set(project.id, project.name)
    return names.get(project.id) ?? 'others'
  }
  function count(record: RequestRecord, request: FastifyRequest): void {
    const { method, status, ms, sent, received } = record
    const endpoint = request.routeOptions.url ?? 'none'
    const project = labelOf(request)
    requests.inc({ method, endpoint, status })
    latency.observe({ method, endpoint }, ms / 1000)
    bytes.inc({ project, direction: 'sent' }, sent)
    bytes.inc({ project, direction: 'received' }, received)
    if (project !== 'none') projectRequests.inc({ project })
  }
  return {
    registry,
    count,
    watch: (server) => {
      watched = server
    },
    close: unwatch,
  }
}

export interface MetricsListener {
  readonly url: string
  close(): Promise<void>
}

/** Serves `GET /metrics` at `address` until `close`. */
export async function listenForMetrics(
  registry: Registry,
  address: MetricsAddress,
): Promise<MetricsListener> {
  const server = createServer((request, answer) => {
    if (request.url !== '/metrics' || request.method !== 'GET') {
      answer.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => answer.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => answer.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  const { address: host, port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
