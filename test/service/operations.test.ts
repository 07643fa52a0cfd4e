// Files that docs/operations offers to operators, compared with the program: each is read as its own program reads
// it, and what it says of options, ports, probes and metrics is tried.

import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseDurationMs } from '../../src/cli/durations.ts'
import { parseBucket } from '../../src/service/blobs/s3/address.ts'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'
import { type TestService, startTestService } from './support.ts'

const folder = new URL('../../docs/operations/', import.meta.url).pathname
const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

let command: CompiledCommand
let here: string
let service: TestService | undefined
let served: ServeProcess | undefined
beforeAll(async () => {
  command = await compileCommand()
  here = await mkdtemp(join(tmpdir(), 'docmount-operations-'))
})
afterAll(async () => {
  await command.remove()
  await rm(here, { recursive: true, force: true })
})
afterEach(async () => {
  await served?.end('SIGKILL')
  served = undefined
  await service?.close()
  service = undefined
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** `0.0.0.0:8080` → 8080. */
const portOf = (address: string): number => Number(address.split(':').at(-1))

describe('compose.yaml', () => {
  interface Compose {
    services: { documents: Container }
    volumes: Record<string, unknown>
  }
  interface Container {
    environment: Record<string, string | number>
    ports: string[]
    expose: number[]
    volumes: string[]
    stop_grace_period: string
    healthcheck: { test: string[] }
  }

  test('its variables start the service, and its health check finds it healthy, and ill when it is gone', async () => {
    const { services, volumes } = parse(await read('compose.yaml')) as Compose
    const { environment, ports, expose, healthcheck, ...container } = services.documents
    const listen = portOf(String(environment['DOCMOUNT_SERVE_LISTEN']))
    const metrics = portOf(String(environment['DOCMOUNT_SERVE_METRICS_LISTEN']))
    expect(ports.map((mapping) => Number(mapping.split(':')[1]))).toEqual([listen])
    expect(expose).toEqual([metrics])
    const mounts = container.volumes.map((volume) => volume.split(':') as [string, string])
    expect(mounts.map(([name]) => name)).toEqual(Object.keys(volumes))
    expect(mounts.map(([, path]) => path)).toEqual([
      environment['DOCMOUNT_SERVE_DATA'],
      environment['DOCMOUNT_SERVE_BACKUP_TO'],
    ])
    expect(parseDurationMs(container.stop_grace_period)).toBeGreaterThan(
      parseDurationMs(String(environment['DOCMOUNT_SERVE_DRAIN'])),
    )
    const port = await freePort()
    served = await command.serveWith(
      {
        environment: {
          ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
          DOCMOUNT_SERVE_METRICS_LISTEN: '127.0.0.1:0',
        },
      },
      '--data',
      join(here, 'data'),
      '--backup-to',
      join(here, 'backups'),
      '--listen',
      `127.0.0.1:${port}`,
    )
    const [kind, program, ...args] = healthcheck.test
    expect([kind, program]).toEqual(['CMD', 'node'])
    const look = (): number | null =>
      spawnSync(
        process.execPath,
        args.map((arg) => arg.replace(`:${listen}`, `:${port}`)),
      ).status
    expect(look()).toBe(0)
    expect((await fetch(served.announcement.metrics_url!)).status).toBe(200)
    expect(served.announcement.projects.map(({ name }) => name)).toEqual([
      environment['DOCMOUNT_SERVE_PROJECT'],
    ])
    await vi.waitFor(() => expect(served!.log()).toContain('a backup was made'), { timeout: 100_000 })
    await served.end('SIGTERM')
    served = undefined
    expect(look()).toBe(1)
  })
})

describe('kubernetes.yaml', () => {
  interface Probe {
    httpGet: { path: string; port: string }
  }
  interface PodSpec {
    terminationGracePeriodSeconds: number
    serviceAccountName: string
    containers: {
      args: string[]
      ports: { name: string; containerPort: number }[]
      livenessProbe: Probe
      readinessProbe: Probe
      startupProbe: Probe
      volumeMounts: { name: string; mountPath: string }[]
    }[]
    volumes: { name: string }[]
  }
  interface Resource {
    kind: string
    metadata: { name: string }
    spec: {
      selector: Record<string, unknown>
      ports: { targetPort: string }[]
      template: { metadata: { labels: object; annotations: Record<string, string> }; spec: PodSpec }
    }
  }

  const readAll = async (): Promise<Map<string, Resource>> => {
    const documents = parseAllDocuments(await read('kubernetes.yaml'))
    expect(documents.flatMap(({ errors }) => errors)).toEqual([])
    const all = documents.map((document) => document.toJS() as Resource)
    return new Map(all.map((resource) => [resource.kind, resource]))
  }
  const optionsOf = (args: readonly string[]): Map<string, string> =>
    new Map(args.map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]))

  test('its ports are those that the arguments name, and its parts belong together', async () => {
    const all = await readAll()
    const { metadata, spec: pod } = all.get('Deployment')!.spec.template
    const [container] = pod.containers
    const options = optionsOf(container!.args)
    const ports = new Map(container!.ports.map(({ name, containerPort }) => [name, containerPort]))
    expect(ports.get('http')).toBe(portOf(options.get('--listen')!))
    expect(ports.get('metrics')).toBe(portOf(options.get('--metrics-listen')!))
    expect(metadata.annotations).toMatchObject({
      'prometheus.io/port': String(ports.get('metrics')),
      'prometheus.io/path': '/metrics',
    })
    const probes = [container!.livenessProbe, container!.readinessProbe, container!.startupProbe]
    for (const { httpGet } of probes) expect(httpGet.port).toBe('http')
    expect(all.get('Service')!.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
    expect(metadata.labels).toMatchObject(all.get('Service')!.spec.selector)
    expect(pod.serviceAccountName).toBe(all.get('ServiceAccount')!.metadata.name)
    expect(pod.volumes.map(({ name }) => name)).toEqual(container!.volumeMounts.map(({ name }) => name))
    const secrets = container!.volumeMounts.find(({ name }) => name === 'database')!.mountPath
    expect(options.get('--database-password-file')).toBe(`${secrets}/password`)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(parseDurationMs(options.get('--drain')!))
    expect(parseBucket({ url: options.get('--blobs')! }).region).toBe('eu-central-1')
  })

  test('its probes are answered', async () => {
    const [container] = (await readAll()).get('Deployment')!.spec.template.spec.containers
    service = await startTestService()
    const { origin } = new URL(service.service.baseUrl)
    for (const { httpGet } of [container!.livenessProbe, container!.readinessProbe, container!.startupProbe])
      expect((await fetch(`${origin}${httpGet.path}`)).status).toBe(200)
  })

  test('its arguments are taken: where nothing is wrong but the database, that is what is said', async () => {
    const [container] = (await readAll()).get('Deployment')!.spec.template.spec.containers
    const password = join(here, 'password')
    await writeFile(password, 'secret')
    const args = container!.args.map((arg) =>
      arg
        .replace(/^--database=.*/, '--database=postgres://docmount@127.0.0.1:1/docmount')
        .replace(/^--database-password-file=.*/, `--database-password-file=${password}`)
        .replace(/^--(listen|metrics-listen)=.*/, '--$1=127.0.0.1:0'),
    )
    const failure = (await command.run('serve', ...args).catch((error: unknown) => error)) as {
      code: number
      stderr: string
    }
    expect([failure.code, failure.stderr]).toEqual([
      1,
      expect.stringContaining('the database cannot be used'),
    ])
    const wrong = (await command.run('serve', ...args, '--no-such').catch((error: unknown) => error)) as {
      code: number
    }
    expect(wrong.code).toBe(2)
  })
})

describe('dashboard.json and alerts.json', () => {
  interface Dashboard {
    panels: { id: number; title: string; targets: { expr: string }[] }[]
    templating: { list: { query: string }[] }
  }
  interface Alerts {
    groups: { rules: { alert: string; expr: string; for: string; annotations: Record<string, string> }[] }[]
  }
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/\b(?:docmount|nodejs|process)_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|count|sum)$/, ''),
    )

  /** By metric, what a service with all there is writes after some traffic. */
  async function labelsWritten(): Promise<Map<string, Set<string>>> {
    const tls = new URL('tls/first', import.meta.url).pathname
    const plan = { to: join(here, 'backups-of-labels'), everyMs: 3_600_000, keep: 1 }
    service = await startTestService({
      database: undefined,
      metrics: { host: '127.0.0.1', port: 0 },
      backups: plan,
    } as never)
    await service.put('/a.txt', 'content')
    const certified = await startTestService({
      metrics: { host: '127.0.0.1', port: 0 },
      tls: { cert: `${tls}.crt`, key: `${tls}.key` },
    })
    const found = new Map<string, Set<string>>()
    for (const { service: one } of [service, certified]) {
      const text = await (await fetch(one.metricsUrl!)).text()
      for (const [, metric = '', labels = ''] of text.matchAll(
        /^(docmount_\w+?)(?:_bucket|_count|_sum)?\{(.*)\} /gm,
      )) {
        const known = found.get(metric) ?? new Set<string>()
        for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!)
        found.set(metric, known)
      }
    }
    await certified.close()
    expect([...found.keys()]).toEqual(
      expect.arrayContaining([
        'docmount_certificate_expiry_timestamp_seconds',
        'docmount_backup_timestamp_seconds',
      ]),
    )
    return found
  }

  test('ask for metrics that the program has, all of its own among them', async () => {
    const dashboard = JSON.parse(await read('dashboard.json')) as Dashboard
    const alerts = JSON.parse(await read('alerts.json')) as Alerts
    const rules = alerts.groups.flatMap((group) => group.rules)
    const asked = new Set([
      ...dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr))),
      ...dashboard.templating.list.flatMap(({ query }) => namesIn(query)),
      ...rules.flatMap(({ expr }) => namesIn(expr)),
    ])
    service = await startTestService({ metrics: { host: '127.0.0.1', port: 0 } })
    const text = await (await fetch(service.service.metricsUrl!)).text()
    const had = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
    expect([...asked].filter((name) => !had.has(name))).toEqual([])
    expect([...had].filter((name) => name.startsWith('docmount_') && !asked.has(name))).toEqual([])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })

  test('name only labels and values that the program writes', async () => {
    const dashboard = JSON.parse(await read('dashboard.json')) as Dashboard
    const alerts = JSON.parse(await read('alerts.json')) as Alerts
    const expressions = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ].filter((expression) => !expression.startsWith('up{'))
    const labelsOf = await labelsWritten()
    for (const expression of expressions) {
      for (const [, metric = '', matchers = ''] of expression.matchAll(/\b((?:docmount)_\w+)\{([^}]*)\}/g)) {
        const labels = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label!)
        const written = labelsOf.get(metric.replace(/_(bucket|count|sum)$/, ''))
        // Of PostgreSQL and S3 there is nothing here.
        if (written === undefined) continue
        const known = ['instance', 'job', 'le', ...written]
        expect([expression, labels.filter((label) => !known.includes(label))]).toEqual([expression, []])
      }
    }
  })

  test('each alert says what to do', async () => {
    const alerts = JSON.parse(await read('alerts.json')) as Alerts
    for (const { alert, for: since, annotations } of alerts.groups.flatMap(({ rules }) => rules))
      expect([alert, since, annotations]).toEqual([
        expect.stringMatching(/^Docmount[A-Z]\w+$/),
        expect.stringMatching(/^\d+[mh]$/),
        { summary: expect.stringMatching(/\S/), action: expect.stringMatching(/\.$/) },
      ])
  })
})
