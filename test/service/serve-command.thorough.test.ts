// `docmount serve` and the commands about its data folder, as processes: how they start, end, and what they say.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'

let command: CompiledCommand
let folder: string
let dataDir: string
let service: ServeProcess

beforeAll(async () => {
  command = await compileCommand()
  folder = await mkdtemp(join(tmpdir(), 'docmount-serve-'))
  dataDir = join(folder, 'data')
  service = await command.serve('--data', dataDir, '--project', 'acme', '--project', 'other')
})
afterAll(async () => {
  await service.end('SIGTERM')
  await command.remove()
  await rm(folder, { recursive: true, force: true })
})

const statusWith = async (key: string): Promise<number> =>
  (await fetch(`${service.announcement.base_url}/projects`, { headers: { 'x-api-key': key } })).status

/** Every page but the first is something else. */
async function damage(file: string): Promise<void> {
  const pageBytes = 4096
  const { length } = await readFile(file)
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(length - pageBytes, 'x'), 0, length - pageBytes, pageBytes)
  await handle.close()
}

const failureOf = (...args: string[]): Promise<{ code: number; stderr: string }> =>
  command.run(...args).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: { code: number; stderr: string }) => error,
  )

describe('docmount serve', () => {
  test('announces its address and the keys it has just made, once it is listening', async () => {
    expect(service.announcement).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api$/),
      projects: [
        { name: 'acme', api_key: expect.stringMatching(/^dmk_/) },
        { name: 'other', api_key: expect.stringMatching(/^dmk_/) },
      ],
    })
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('refuses a folder in use in one line that names it', async () => {
    const { code, stderr } = await failureOf('serve', '--data', dataDir)
    expect(code).toBe(1)
    expect(stderr).toBe(
      `docmount: another docmount service is using ${dataDir}: stop it or choose another folder\n`,
    )
  })

  test.each([['nowhere'], ['127.0.0.1'], ['127.0.0.1:99999']])('refuses --listen %s', async (listen) => {
    const { code, stderr } = await failureOf('serve', '--data', dataDir, '--listen', listen)
    expect([code, stderr]).toEqual([2, expect.stringContaining('HOST:PORT')])
  })

  test('ends cleanly on SIGTERM, and starts again without new keys', async () => {
    const other = join(folder, 'again')
    for (const expected of [{ name: 'a', api_key: expect.any(String) }, { name: 'a' }]) {
      const again = await command.serve('--data', other, '--project', 'a')
      expect(again.announcement.projects).toEqual([expected])
      expect(await again.end('SIGTERM')).toBe(0)
    }
  })

  test('logs neither keys nor signatures', async () => {
    const key = service.announcement.projects[0]!.api_key!
    expect(service.log()).toContain('listening')
    expect(service.log()).not.toContain(key)
  })
})

describe('docmount serve, hosted', () => {
  const logs = (name: string): string => join(folder, name)
  type Line = Record<string, unknown>
  const linesOf = async (name: string): Promise<Line[]> => {
    const lines = (await readFile(logs(name), 'utf8')).trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Line)
  }

  test('takes every option from the environment, and the command line counts more', async () => {
    const hosted = await command.serveWith(
      {
        environment: {
          DOCMOUNT_SERVE_DATA: join(folder, 'hosted'),
          DOCMOUNT_SERVE_PROJECT: 'one, two',
          DOCMOUNT_SERVE_PUBLIC_URL: 'https://documents.example',
          DOCMOUNT_SERVE_LIMIT: 'depth=2,document=none',
          DOCMOUNT_SERVE_METRICS_LISTEN: '127.0.0.1:0',
          DOCMOUNT_SERVE_ACCESS_LOG: logs('wrong.log'),
          DOCMOUNT_SERVE_ALLOW_PRIVATE_URIS: 'no',
          DOCMOUNT_SERVE_VERBOSE: '0',
        },
      },
      '--access-log',
      logs('access.log'),
      '--audit-log',
      logs('audit.log'),
      '--limit',
      'name=5',
    )
    const { base_url: base, metrics_url: metrics, projects } = hosted.announcement
    expect(projects.map((project) => project.name)).toEqual(['one', 'two'])
    const put = async (path: string): Promise<Response> =>
      fetch(`${base}/projects/one/files?path=${path}`, {
        method: 'PUT',
        headers: { 'x-api-key': projects[0]!.api_key!, 'content-type': 'application/json' },
        body: JSON.stringify({ mimetype: 'text/plain', filename: 'a', file_type: 'binary', file: 'QQ==' }),
      })
    const stored = (await (await put('/a/b')).json()) as { url: string }
    expect(stored.url).toMatch(/^https:\/\/documents\.example\/api\/download\//)
    expect([(await put('/a/b/c')).status, (await put('/sixsix')).status]).toEqual([400, 400])
    expect(await (await fetch(metrics!)).text()).toContain('docmount_requests_total')
    expect(await hosted.end('SIGTERM')).toBe(0)
    expect(await linesOf('access.log')).toEqual([
      expect.objectContaining({ level: 'info', method: 'PUT', status: 201, document: '/a/b' }),
      expect.objectContaining({ status: 400 }),
      expect.objectContaining({ status: 400 }),
    ])
    expect(await linesOf('audit.log')).toEqual([
      expect.objectContaining({ change: 'project made', by: 'docmount serve', project: 'one' }),
      expect.objectContaining({ change: 'project made', by: 'docmount serve', project: 'two' }),
      expect.objectContaining({ change: 'stored', path: '/a/b' }),
    ])
    expect(hosted.log()).not.toContain('PUT')
  })

  test('logs to standard output as JSON, after the announcement', async () => {
    const hosted = await command.serve('--data', join(folder, 'out'), '--access-log', '-')
    await fetch(`${hosted.announcement.base_url}/projects`)
    await expect.poll(() => hosted.output()).toMatch(/\n\{"level":"info".*"status":401.*\}\n$/)
    expect(await hosted.end('SIGTERM')).toBe(0)
  })

  test('is not ended by a log nobody reads any more, nor by one that has no room', async () => {
    const hosted = await command.serve(
      '--data',
      join(folder, 'mute'),
      '--access-log',
      '-',
      '--audit-log',
      '/dev/full',
    )
    hosted.process.stdout!.destroy()
    hosted.process.stderr!.destroy()
    for (let count = 0; count < 20; count++)
      expect((await fetch(`${hosted.announcement.base_url}/health`)).status).toBe(200)
    expect(await hosted.end('SIGTERM')).toBe(0)
  })

  test('shows keys to a terminal and to whoever asks for JSON, not to a journal', async () => {
    const args = ['serve', '--data', join(folder, 'journal'), '--listen', '127.0.0.1:0', '--project', 'acme']
    const script = `exec ${process.execPath} ${join(command.folder, 'dist/cli/main.js')} ${args.join(' ')}`
    const piped = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    piped.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await expect.poll(() => output).toContain('docmount mount acme')
    piped.kill('SIGTERM')
    await once(piped, 'close')
    expect(output).toContain('docmount keys create acme')
    expect(output).toMatch(/docmount login --base-url http:\S+\/api/)
    // A key that nobody would have seen was not made.
    expect(
      JSON.parse((await command.run('keys', 'ls', '--data', join(folder, 'journal'), '--json')).stdout),
    ).toEqual([])
    expect(output).not.toContain('dmk_')
  })

  test('reads the certificate again on SIGHUP', async () => {
    const [cert, key] = [logs('cert.pem'), logs('key.pem')]
    const install = async (name: string): Promise<void> => {
      await copyFile(new URL(`tls/${name}.crt`, import.meta.url), cert)
      await copyFile(new URL(`tls/${name}.key`, import.meta.url), key)
    }
    const shown = async (port: number): Promise<string> => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return String(subject.CN)
    }
    await install('first')
    const hosted = await command.serve('--data', join(folder, 'tls'), '--cert', cert, '--key', key)
    const port = Number(new URL(hosted.announcement.base_url).port)
    expect(hosted.announcement.base_url).toMatch(/^https:/)
    expect(await shown(port)).toBe('first.example')
    await install('second')
    hosted.process.kill('SIGHUP')
    await expect.poll(() => shown(port)).toBe('second.example')
    expect(await hosted.end('SIGTERM')).toBe(0)
  })

  test.each([
    [['--cert', 'x'], 2, '--cert and --key go together'],
    [['--limit', 'size=1'], 2, 'the names are name, path, depth'],
    [['--limit', 'depth=deep'], 2, 'deep is not a whole number'],
    [['--public-url', 'documents.example'], 1, 'not a public URL: documents.example'],
    [['--trust-proxy', 'all'], 1, 'all is neither an address nor a network'],
    [['--trust-proxy', '010.0.0.0/8'], 1, '010.0.0.0/8 is neither an address nor a network'],
    [['--log', '/nowhere/x.log'], 2, 'cannot log into /nowhere/x.log'],
    [['--limit', 'constructor=1'], 2, 'the names are name, path, depth'],
    [['--limit', 'project=0'], 2, 'write none for no limit'],
    [['--limit', 'project=0.4B'], 2, 'write none for no limit'],
    [['--limit', 'project-documents=0'], 2, 'write none for no limit'],
    [['--log-size', '0'], 2, 'Write a size from 1KiB'],
    [['--log-keep', '0'], 2, 'from 1 to 1000'],
    [['--log-keep', '99999999999999'], 2, 'from 1 to 1000'],
    [['--database-password-file', 'x'], 2, '--database-password-file needs --database'],
  ])('refuses %j in one line', async (args, expected, words) => {
    const { code, stderr } = await failureOf('serve', '--data', join(folder, 'refused'), ...args)
    expect([code, stderr]).toEqual([expected, expect.stringContaining(words)])
    expect(stderr).not.toContain('    at ')
  })

  test.each(['n', 'nein', 'disabled'])(
    'does not take %s for yes: uploads by uri would reach private addresses',
    async (value) => {
      const args = ['serve', '--data', join(folder, 'refused')]
      const environment = { DOCMOUNT_SERVE_ALLOW_PRIVATE_URIS: value }
      const started = command.serveWith({ environment }, ...args.slice(1))
      await expect(started).rejects.toThrow('write yes or no')
    },
  )

  test('refuses a variable that no option has; what Kubernetes sets for a service of that name is none of it', async () => {
    const args = ['--data', join(folder, 'variables'), '--listen', '127.0.0.1:0']
    const misspelt = command.serveWith({ environment: { DOCMOUNT_SERVE_LIMITS: 'depth=2' } }, ...args)
    await expect(misspelt).rejects.toThrow('DOCMOUNT_SERVE_LIMITS belongs to no option')
    const environment = {
      DOCMOUNT_SERVE_SERVICE_HOST: '10.0.0.1',
      DOCMOUNT_SERVE_SERVICE_PORT_HTTP: '8080',
      DOCMOUNT_SERVE_PORT: 'tcp://10.0.0.1:8080',
      DOCMOUNT_SERVE_PORT_8080_TCP_ADDR: '10.0.0.1',
    }
    expect(await (await command.serveWith({ environment }, ...args)).end('SIGTERM')).toBe(0)
  })

  test('makes no key it could not show: where it does not start, the next start prints it', async () => {
    const data = join(folder, 'taken')
    const { host } = new URL(service.announcement.base_url)
    const { stderr } = await failureOf('serve', '--data', data, '--project', 'new', '--listen', host)
    expect(stderr).toContain(`another program listens at ${host}`)
    const wrong = ['--project', 'new', '--project', 'no/name']
    expect((await failureOf('serve', '--data', data, ...wrong)).stderr).toContain('not a project name')
    const started = await command.serve('--data', data, '--project', 'new', '--project', 'new')
    expect(started.announcement.projects).toEqual([{ name: 'new', api_key: expect.stringMatching(/^dmk_/) }])
    expect(await started.end('SIGTERM')).toBe(0)
  })

  test('refuses a folder of somebody else, a file and what cannot be made, each in one line', async () => {
    for (const [dataDir, words] of [
      [folder, "holds files that are no service's"],
      [process.execPath, 'is not a folder'],
      ['/proc/x', 'cannot be made'],
    ] as const) {
      const { code, stderr } = await failureOf('serve', '--data', dataDir)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^docmount: [^\n]+\n$/)])
      expect(stderr).toContain(words)
    }
  })
})

describe.each([
  ['is no database', (file: string) => writeFile(file, 'no database at all')],
  ['was cut', (file: string) => truncate(file, 20_000)],
  ['is damaged in its midst', (file: string) => damage(file)],
])('a database that %s', (_what, harm) => {
  test('is told in one line, and the command ends', async () => {
    const data = join(folder, 'damaged')
    await rm(data, { recursive: true, force: true })
    const served = await command.serve('--data', data, '--project', 'acme')
    await served.end('SIGTERM')
    const file = join(data, 'service.db')
    await harm(file)
    for (const args of [['serve'], ['keys', 'list'], ['backup', join(folder, 'none')]]) {
      const { code, stderr } = await failureOf(...args, '--data', data)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^docmount: [^\n]*damaged[^\n]*\n$/)])
    }
  })
})

describe('docmount keys', () => {
  test('makes a key that a running service takes at once, and revokes it', async () => {
    const key = (await command.run('keys', 'create', 'acme', '--data', dataDir)).stdout.trim()
    expect(await statusWith(key)).toBe(200)
    const list = JSON.parse(
      (await command.run('keys', 'list', 'acme', '--data', dataDir, '--json')).stdout,
    ) as {
      id: string
    }[]
    expect(list).toHaveLength(2)
    expect(list.at(-1)).toMatchObject({ name: null, projects: ['acme'], access: 'write', path: '/' })
    expect(JSON.stringify(list)).not.toContain(key)
    // Of every project, where none is named.
    const all = JSON.parse(
      (await command.run('keys', 'list', '--data', dataDir, '--json')).stdout,
    ) as object[]
    expect(all.length).toBeGreaterThanOrEqual(list.length + 1)
    expect(all).toEqual(expect.arrayContaining(list))
    await command.run('keys', 'revoke', 'acme', list.at(-1)!.id, '--data', dataDir)
    expect(await statusWith(key)).toBe(401)
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('revokes all keys of a project where none is named, and of no other', async () => {
    await command.run('keys', 'create', 'other', '--data', dataDir)
    expect((await command.run('keys', 'revoke', 'other', '--data', dataDir)).stdout).toBe('2 revoked\n')
    expect(await statusWith(service.announcement.projects[1]!.api_key!)).toBe(401)
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('says what is wrong with an unknown project, folder or id', async () => {
    expect((await failureOf('keys', 'create', 'nobody', '--data', dataDir)).stderr).toContain(
      'there is no project nobody: docmount projects list shows them',
    )
    expect((await failureOf('keys', 'list', 'acme', '--data', folder)).stderr).toContain('is no data folder')
    expect((await failureOf('keys', 'revoke', 'acme', 'abc', '--data', dataDir)).stderr).toContain(
      'has no key abc',
    )
  })
})

describe('docmount tables and runs', () => {
  test('remove a table, and runs by age, of a service that runs', async () => {
    const headers = {
      'x-api-key': service.announcement.projects[0]!.api_key!,
      'content-type': 'application/json',
    }
    const post = async (path: string, body: object): Promise<Record<string, string>> => {
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const url = `${service.announcement.base_url}/projects/acme/tables${path}`
      return (await (await fetch(url, init)).json()) as Record<string, string>
    }
    const { id } = await post('', { name: 'invoices', settings: { type: 'reconcile' } })
    await post(`/${id}/tasks`, { data: { a: 1 } })
    const runs = async (...args: string[]): Promise<string> =>
      (await command.run('runs', 'rm', 'acme', ...args, '--data', dataDir)).stdout
    expect(await runs('--older', '90d')).toBe('0 removed\n')
    expect(await runs('--table', 'invoices')).toBe('1 removed\n')
    await command.run('tables', 'rm', 'acme', 'invoices', '--data', dataDir)
    expect(await post(`/${id}/tasks`, { data: { a: 1 } })).toMatchObject({
      errorMessage: `there is no table ${id}`,
    })
    expect((await failureOf('tables', 'rm', 'acme', 'invoices', '--data', dataDir)).stderr).toBe(
      'docmount: acme has no table invoices\n',
    )
  })
})

test('--limit keep-runs removes what is older, and keeps what is not', async () => {
  const data = join(folder, 'kept-runs')
  const served = async (...args: string[]): Promise<ServeProcess> =>
    command.serve('--data', data, '--project', 'acme', ...args)
  const first = await served()
  const { base_url: url, projects } = first.announcement
  const headers = { 'x-api-key': projects[0]!.api_key!, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${url}/projects/acme/tables${path}`, init)).json()) as Record<string, string>
  }
  const { id } = await post('', { name: 'r', settings: { type: 'reconcile' } })
  await post(`/${id}/tasks`, { data: { a: 1 } })
  await first.end('SIGTERM')
  const runs = (): number => {
    const database = new Libsql(join(data, 'service.db'))
    const { count } = database.prepare('select count(*) as count from runs').get() as { count: number }
    database.close()
    return count
  }
  await (await served('--limit', 'keep-runs=90d')).end('SIGTERM')
  expect(runs()).toBe(1)
  const last = await served('--limit', 'keep-runs=1ms')
  await expect.poll(runs).toBe(0)
  await last.end('SIGTERM')
  for (const limit of ['keep-runs=for ever', 'matching-memory=1MiB', 'matching-threads=0'])
    expect(await failureOf('serve', '--data', data, '--limit', limit)).toMatchObject({ code: 2 })
})

describe('docmount projects', () => {
  const list = async (): Promise<string> => (await command.run('projects', 'list', '--data', dataDir)).stdout

  test('makes a project while the service runs, and removes it', async () => {
    const made = await command.run('projects', 'create', 'extra', '--data', dataDir, '--json')
    const { api_key: key } = JSON.parse(made.stdout) as { api_key: string }
    expect(await statusWith(key)).toBe(200)
    expect(await list()).toContain('extra\n')
    expect((await failureOf('projects', 'create', 'extra', '--data', dataDir)).stderr).toBe(
      'docmount: there is a project extra already\n',
    )
    await command.run('projects', 'rm', 'extra', '--data', dataDir)
    expect(await statusWith(key)).toBe(401)
    expect(await list()).not.toContain('extra')
  })

  test('does the same to a folder that nobody serves', async () => {
    const quiet = join(folder, 'quiet')
    const first = await command.serve('--data', quiet)
    await first.end('SIGTERM')
    const key = (await command.run('projects', 'create', 'late', '--data', quiet)).stdout.trim()
    const read = await command.run('keys', 'create', 'late', '--read-only', '--data', quiet)
    const again = await command.serve('--data', quiet)
    for (const one of [key, read.stdout.trim()]) {
      const answer = await fetch(`${again.announcement.base_url}/projects`, { headers: { 'x-api-key': one } })
      expect(answer.status).toBe(200)
    }
    await again.end('SIGKILL')
    // The socket of a killed service is still there, and nobody listens.
    await command.run('projects', 'rm', 'late', '--data', quiet)
    expect((await command.run('projects', 'list', '--data', quiet)).stdout).toBe('')
  })
})
