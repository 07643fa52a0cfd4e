// A database that an older or a newer version has made: what can be used is used, and what cannot is refused in a sentence.

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Connection } from '../../src/service/store/connection.ts'
import { kyselyOver } from '../../src/service/store/dialect-local.ts'
import { migrate } from '../../src/service/store/migrate.ts'
import { migrations } from '../../src/service/store/migrations.ts'
import { writerPragmas } from '../../src/service/store/pragmas.ts'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'
import { documentOf } from './support.ts'

let command: CompiledCommand
let data: string
let turn = 0
beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())
beforeEach(() => {
  data = join(command.folder, `data-${turn++}`)
})

const check = async (...args: string[]): Promise<string> =>
  (await command.run('serve', '--check-database', '--data', data, ...args)).stdout

async function failureOf(...args: string[]): Promise<{ code: number; stderr: string }> {
  const failed = await command.run(...args).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  )
  return { code: failed?.code ?? 0, stderr: failed?.stderr ?? '' }
}

/** A newer version has changed the tables so. */
function change(name: string, ...statements: readonly string[]): void {
  const database = new Libsql(join(data, 'service.db'))
  for (const statement of statements) database.exec(statement)
  database
    .prepare('insert into service_migrations (name, timestamp) values (?, ?)')
    .run(name, '2100-01-01T00:00:00.000Z')
  database.close()
}

async function served<Result>(work: (served: ServeProcess) => Promise<Result>): Promise<Result> {
  const running = await command.serve('--data', data, '--project', 'acme')
  try {
    return await work(running)
  } finally {
    expect(await running.end('SIGTERM')).toBe(0)
  }
}

describe('a database of a newer version', () => {
  test('that has only added to it is served, and administered', async () => {
    const key = await served(async ({ announcement }) => announcement.projects[0]!.api_key!)
    change('9000_notes', 'alter table nodes add column note text', 'create table notes (id text primary key)')
    expect(await check()).toBe('The database is of a newer version (9000_notes), and this one can use it.\n')
    expect(JSON.parse(await check('--json'))).toEqual({ pending: [], newer: ['9000_notes'] })
    await served(async ({ announcement }) => {
      const url = `${announcement.base_url}/projects/acme/files?path=/a.txt`
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const put = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(documentOf('x')) })
      expect(put.status).toBe(201)
      expect((await fetch(url, { headers })).status).toBe(200)
    })
    expect((await command.run('projects', 'list', '--data', data)).stdout).toBe('acme\n')
  })

  test('that has taken away what this one needs is refused by every command, in one line', async () => {
    await served(async () => undefined)
    change('9001_contract_nodes', 'alter table nodes rename to documents_anew')
    const refused = {
      code: 1,
      stderr: expect.stringMatching(
        /^docmount: the database is of a newer docmount \(9001_contract_nodes\): run that version, or restore a backup from before it\n$/,
      ),
    }
    for (const args of [
      ['serve'],
      ['serve', '--check-database'],
      ['keys', 'list'],
      ['check'],
      ['backup', join(command.folder, 'none')],
    ])
      expect([args, await failureOf(...args, '--data', data)]).toEqual([args, refused])
  })

  test('whose changes are older than ours, as of another line of versions, is refused', async () => {
    await served(async () => undefined)
    change('0001_of_others')
    expect(await failureOf('serve', '--data', data)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^docmount: [^\n]*newer docmount \(0001_of_others\)[^\n]*\n$/),
    })
  })
})

describe('serve --check-database', () => {
  test('tells of an older database what a start adds, and changes nothing', async () => {
    await mkdir(data)
    const file = join(data, 'service.db')
    const store = kyselyOver(new Connection(file, { pragmas: writerPragmas }))
    await migrate(store, 'service', Object.fromEntries(Object.entries(migrations).slice(0, 3)))
    await store.destroy()
    const run = (): unknown[] => {
      const database = new Libsql(file)
      const names = database.prepare('select name from service_migrations').all()
      database.close()
      return names
    }
    const added = Object.keys(migrations).slice(3)
    const { pending } = JSON.parse(await check('--json')) as { pending: string[] }
    expect(pending.slice(0, added.length)).toEqual(added)
    expect(await check()).toBe(
      `A start adds to the database: ${pending.join(', ')}. Nodes of the version before go on with it.\n`,
    )
    expect(run()).toHaveLength(3)
    await served(async () => undefined)
    expect(await check()).toBe('The database is up to date.\n')
  })

  test('makes none where there is none, and works beside a service', async () => {
    expect(await check()).toBe('There is no database yet: a start makes it.\n')
    expect(existsSync(data)).toBe(false)
    await served(async () => expect(await check()).toBe('The database is up to date.\n'))
  })
})
