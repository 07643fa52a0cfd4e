// PostgreSQL for tests: the server that `scripts/test` started for all tests, or a separate one, which a test may kill.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { connectionOf } from '../../src/service/store/postgres/address.ts'
import type { ServiceOptions } from '../../src/service/index.ts'

type Address = NonNullable<ServiceOptions['database']>

const engines = new URL('../../scripts/engines', import.meta.url).pathname

/** Returns why there is no PostgreSQL here; undefined if there is. */
export function whyNoPostgres(): string | undefined {
  if (process.env['DOCMOUNT_TEST_POSTGRES'] !== undefined) return undefined
  try {
    execFileSync(engines, ['check'], { stdio: 'pipe' })
    return undefined
  } catch {
    return 'PostgreSQL is not installed'
  }
}

export interface Postgres {
  /** Makes an empty database. */
  database(): Promise<Address>
  stop(mode: 'fast' | 'immediate'): void
  start(): void
  close(): Promise<void>
}

/** Starts a separate server. */
export async function startPostgres(): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), 'docmount-postgres-'))
  const start = (): Address => {
    const { url, passfile } = JSON.parse(execFileSync(engines, ['start', folder], { encoding: 'utf8' })) as {
      url: string
      passfile: string
    }
    process.env['PGPASSFILE'] = passfile
    return { url }
  }
  const address = start()
  return {
    database: () => makeDatabase(address),
    stop: (mode) => void execFileSync(engines, ['stop', folder, mode]),
    start: () => void start(),
    async close() {
      execFileSync(engines, ['stop', folder, 'immediate'])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

let shared: Promise<Postgres> | undefined

/** Makes an empty database on the server for all tests; if there is none, on one that runs until this process ends. */
export async function freshDatabase(): Promise<Address> {
  const url = process.env['DOCMOUNT_TEST_POSTGRES']
  if (url !== undefined) return makeDatabase({ url })
  shared ??= startPostgres().then((postgres) => {
    process.once('exit', () => postgres.stop('immediate'))
    return postgres
  })
  return (await shared).database()
}

async function makeDatabase({ url }: Address): Promise<Address> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await ask({ url }, `create database ${name}`)
  const made = new URL(url)
  made.pathname = name
  return { url: made.href }
}

/** Runs one query on a database, without the service; returns its rows. */
export async function ask<Row extends object>({ url }: Address, text: string): Promise<Row[]> {
  const client = new pg.Client(connectionOf({ url }))
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
