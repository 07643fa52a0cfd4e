// Behind PgBouncer, whichever way it pools. Needs Debian's package `pgbouncer`.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startService } from '../../../src/service/index.ts'
import { connectionOf } from '../../../src/service/store/postgres/address.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { startTestService } from '../support.ts'

const isHere = ((): boolean => {
  try {
    return execFileSync('pgbouncer', ['--version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
})()

const ours = 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout'

/** Answers the URL of a database behind it. `ignored`: parameters it takes and forgets. */
async function behindPgBouncer(mode: 'session' | 'transaction', ignored: string): Promise<string> {
  const database = new URL((await freshDatabase()).url)
  const password = await (connectionOf({ url: database.href }).password as (to: object) => Promise<string>)({
    host: database.hostname,
    port: Number(database.port),
    database: database.pathname.slice(1),
    user: database.username,
  })
  const folder = mkdtempSync(join(tmpdir(), 'docmount-pgbouncer-'))
  const port = await freePort()
  const lines = [
    '[databases]',
    `* = host=${database.hostname} port=${database.port} user=${database.username} password=${password}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${mode === 'session' ? 40 : 4}`,
    ...(ignored === '' ? [] : [`ignore_startup_parameters = ${ignored}`]),
  ]
  writeFileSync(join(folder, 'ini'), lines.join('\n'))
  // It refuses to run as root.
  const [program, ...args] =
    process.getuid?.() === 0
      ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--', 'pgbouncer']
      : ['pgbouncer']
  chmodSync(folder, 0o755)
  const child = spawn(program, [...args, join(folder, 'ini')], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(async () => {
    if (child.exitCode === null) {
      child.kill('SIGINT')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  })
  let said = ''
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    said += chunk.toString()
    if (said.includes('process up')) break
  }
  expect(said).toContain('process up')
  child.stderr.resume()
  database.port = String(port)
  return database.href
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

describe.skipIf(!isHere)('behind PgBouncer', () => {
  test.each(['session', 'transaction'] as const)(
    'with pool_mode = %s many are served at once',
    async (mode) => {
      const url = await behindPgBouncer(mode, ours)
      const service = await startTestService({ database: { url } })
      onTestFinished(() => service.close())
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async (_, at) => {
          const path = `/${at % 8}/${at}.txt`
          const put = await service.put(path, `${at}`)
          const got = await service.get(path)
          const { url: link } = (await got.json()) as { url: string }
          expect(await (await fetch(link)).text()).toBe(`${at}`)
          return [put.status, got.status, (await service.delete(path)).status]
        }),
      )
      expect(new Set(statuses.map(String))).toEqual(new Set(['201,200,204']))
    },
  )

  test('that takes no limits from who connects, it says in one sentence what to set', async () => {
    const url = await behindPgBouncer('transaction', '')
    const folder = mkdtempSync(join(tmpdir(), 'docmount-pooled-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await expect(startService({ dataDir: folder, database: { url } })).rejects.toThrow(
      /^the database cannot be used: unsupported startup parameter: \w+ \(behind PgBouncer set ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout\)$/,
    )
  })
})
