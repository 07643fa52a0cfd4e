// Two nodes of one service in this process, over one database and one folder for contents.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceOptions } from '../../../src/service/index.ts'
import { ask, freshDatabase } from '../../support/postgres.ts'
import { type TestService, startTestService } from '../support.ts'

export interface Nodes {
  readonly one: TestService
  readonly two: TestService
  readonly folder: string
  readonly database: NonNullable<ServiceOptions['database']>
  /** Rows of one question to the database. */
  ask<Row extends object>(text: string): Promise<Row[]>
  close(): Promise<void>
}

export async function startNodes(options: Partial<ServiceOptions> = {}): Promise<Nodes> {
  const folder = await mkdtemp(join(tmpdir(), 'docmount-nodes-'))
  const database = await freshDatabase()
  const start = (): Promise<TestService> => startTestService({ ...options, dataDir: folder, database })
  // At once: both make the tables.
  const [one, two] = await Promise.all([start(), start()])
  return {
    one,
    two,
    folder,
    database,
    ask: (text) => ask(database, text),
    async close() {
      await one.close()
      await two.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
