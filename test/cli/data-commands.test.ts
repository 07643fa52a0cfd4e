// The commands that talk to the service, run in this process against the reference service.

import { chmod, lstat, mkdir, readFile, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGate } from '../support/gate.ts'
import { losingAnswerOfDelete } from '../support/losing-answer.ts'
import { run } from '../support/run.ts'
import { docmount } from '../support/run-command.ts'
import type { TestService } from '../support/service.ts'
import { project, startTestService } from '../support/service.ts'
import type { TemporaryFolder } from '../support/temporary-folder.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { untypedFiles } from '../support/untyped-files.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: TestService
let temporary: TemporaryFolder

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  vi.stubEnv('DOCMOUNT_BASE_URL', service.baseUrl)
  vi.stubEnv('DOCMOUNT_API_KEY', service.apiKey)
  vi.stubEnv('XDG_CONFIG_HOME', join(temporary.path, 'config'))
})
afterEach(async () => {
  service.service.faults.clear()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await temporary.remove()
})

async function localFile(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(temporary.path, name)
  await writeFile(file, content)
  return file
}

describe('projects and ls', () => {
  test('align sizes right, also below a folder, which has none', async () => {
    for (const [path, content] of [
      ['folder/a.csv', 'a'],
      ['x.csv', 'four'],
      ['y.csv', 'eleven byte'],
    ] as const)
      await docmount('put', project, await localFile('a.csv', content), `/sizes/${path}`)
    const { stdout } = await docmount('ls', project, '/sizes', '--long')
    expect(stdout.split('\n').map((line) => line.slice(0, 6))).toEqual([
      'SIZE  ',
      '   -  ',
      '   4  ',
      '  11  ',
      '',
    ])
  })

  test('show what is there, for people and for scripts', async () => {
    await docmount('put', project, await localFile('b.csv', 'x\n1\n'), '/ls/b.csv')
    await docmount('put', project, await localFile('a.txt', 'text'), '/ls/deep/a.txt')
    const table = await docmount('projects')
    expect(table.stdout).toMatch(/^NAME\s+MOUNTED AT\s+STATE\s+CREATED\s+ID\nacme\s+-\s+not mounted\s/)
    const projects = JSON.parse((await docmount('projects', '--json')).stdout) as unknown
    expect(projects).toMatchObject([{ name: project, mounts: [] }])

    expect((await docmount('ls', project, '/ls')).stdout).toBe('b.csv\ndeep/\n')
    const long = await docmount('ls', project, 'ls', '--long')
    expect(long.stdout).toMatch(/^SIZE\s+MODIFIED\s+TYPE\s+NAME\n\s*4\s+\S+Z\s+text\/csv\s+b.csv\n/)
    const entries = JSON.parse((await docmount('ls', project, '/ls', '--json')).stdout) as unknown
    expect(entries).toEqual([
      {
        ftype: 'file',
        name: 'b.csv',
        size: 4,
        mimetype: 'text/csv',
        modified_at: expect.any(String) as string,
      },
      { ftype: 'folder', name: 'deep' },
    ])
  })
})

describe('put', () => {
  test('keeps the name below a folder, and does not replace unless told to', async () => {
    const file = await localFile('put.txt', 'one')
    expect((await docmount('put', project, file, '/put/')).exitCode).toBe(0)
    await writeFile(file, 'two')
    const refused = await docmount('put', project, file, '/put/put.txt')
    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused.error).toMatch(/^PUT \/put\/put\.txt: 409 .*--replace/)
    expect(await service.other.bytes('/put/put.txt')).toEqual(Buffer.from('one'))
    expect((await docmount('put', project, file, '/put/put.txt', '--replace')).exitCode).toBe(0)
    expect(await service.other.bytes('/put/put.txt')).toEqual(Buffer.from('two'))
  })

  test('never replaces a folder', async () => {
    const file = await localFile('a.txt', 'one')
    await docmount('put', project, file, '/tree/in/a.txt')
    const refused = await docmount('put', project, file, '/tree/in', '--mimetype', 'text/plain', '--replace')
    expect(refused).toMatchObject({
      exitCode: 1,
      error: '/tree/in is a folder; a document cannot replace it',
    })
    expect(await docmount('put', project, file, '/tree/in', '--mimetype', 'text/plain')).toMatchObject({
      exitCode: 1,
      error: '/tree/in is a folder; /tree/in/ takes the document in under its own name',
    })
    expect(await service.other.bytes('/tree/in/a.txt')).toEqual(Buffer.from('one'))
  })

  test('says where the document is when the old one is deleted and the new one is not sent', async () => {
    const file = await localFile('a.txt', 'new')
    await docmount('put', project, file, '/between/a.txt')
    const target = { method: 'PUT', path: '/between/a.txt', times: 2 }
    service.service.faults.inject({ kind: 'status', status: 409 }, { ...target, times: 1 })
    service.service.faults.inject({ kind: 'status', status: 500 }, target)
    const failed = await docmount('put', project, file, '/between/a.txt', '--replace')
    expect(failed.exitCode).toBe(75)
    expect(failed.error).toContain(`the old /between/a.txt is deleted`)
    expect(failed.error).toContain(`it is kept in ${file}`)
  })

  test('puts the old one back when the new one is refused after that is deleted, and leaves nothing behind', async () => {
    const file = await localFile('a.txt', 'old')
    vi.stubEnv('TMPDIR', join(temporary.path, 'tmp'))
    await mkdir(join(temporary.path, 'tmp'))
    await docmount('put', project, file, '/refused/a.txt', '--mimetype', 'text/csv')
    await writeFile(file, 'new')
    const target = { method: 'PUT', path: '/refused/a.txt', times: 1 }
    service.service.faults.inject({ kind: 'status', status: 409 }, target)
    service.service.faults.inject({ kind: 'status', status: 422 }, target)
    const refused = await docmount('put', project, file, '/refused/a.txt', '--replace')
    expect(refused.exitCode).toBe(1)
    expect(refused.error).toMatch(/^PUT \/refused\/a\.txt: 422 .*; what stood there is put back$/)
    expect(await service.other.bytes('/refused/a.txt')).toEqual(Buffer.from('old'))
    const found = JSON.parse((await docmount('ls', project, '/refused/a.txt', '--json')).stdout) as unknown
    expect(found).toMatchObject([{ mimetype: 'text/csv' }])
    expect(await readdir(join(temporary.path, 'tmp'))).toEqual([])
    expect(await docmount('put', project, file, '/refused/a.txt', '--replace')).toMatchObject({ exitCode: 0 })
    expect(await service.other.bytes('/refused/a.txt')).toEqual(Buffer.from('new'))
    expect(await readdir(join(temporary.path, 'tmp'))).toEqual([])
  })

  test('replaces the old one where the service says of its DELETE that nothing is there: a balancer has sent it twice', async () => {
    const file = await localFile('a.txt', 'old')
    await docmount('put', project, file, '/twice/a.txt')
    await writeFile(file, 'new')
    const { faults } = service.service
    faults.inject({ kind: 'error-after-commit', status: 404 }, { method: 'DELETE', times: 1 })
    expect(await docmount('put', project, file, '/twice/a.txt', '--replace')).toMatchObject({ exitCode: 0 })
    expect(await service.other.bytes('/twice/a.txt')).toEqual(Buffer.from('new'))
    faults.inject({ kind: 'error-after-commit', status: 404 }, { method: 'DELETE', times: 1 })
    expect(await docmount('rm', project, '/twice/a.txt')).toMatchObject({ exitCode: 0 })
  })

  test('leaves what another client stored when the DELETE of the old one was done and not answered', async () => {
    const file = await localFile('a.txt', 'old')
    await docmount('put', project, file, '/lost/a.txt')
    await writeFile(file, 'new')
    await using gate = await startGate(() => Number(new URL(service.baseUrl).port))
    vi.stubEnv('DOCMOUNT_BASE_URL', gate.baseUrl)
    const lost = losingAnswerOfDelete(gate, () => service.other.put('/lost/a.txt', 'by another'))
    expect(await docmount('put', project, file, '/lost/a.txt', '--replace')).toMatchObject({ exitCode: 1 })
    await lost
    expect((await service.other.bytes('/lost/a.txt')).toString()).toBe('by another')
  })

  test('says so when the local file was changed while it was sent: --skip-existing would take it for stored', async () => {
    const local = await localFile('a.txt', 'before')
    for (const [path, change] of Object.entries({
      '/changed/written.txt': () => writeFile(local, 'after!'),
      '/changed/replaced.txt': async () => {
        await writeFile(`${local}.new`, 'again!')
        await rename(`${local}.new`, local)
      },
    })) {
      await using gate = await startGate(() => service.service.port)
      vi.stubEnv('DOCMOUNT_BASE_URL', gate.baseUrl)
      gate.decide = ({ method }) => (method === 'PUT' ? 'keep' : 'pass')
      const running = docmount('put', project, local, path)
      await waitUntil('the upload is under way', () => gate.kept === 1)
      await change()
      gate.decide = () => 'pass'
      gate.release()
      expect(await running).toMatchObject({
        exitCode: 75,
        error: `${local} was changed while it was sent: what is stored may be no state of it; --replace sends it again`,
      })
    }
  })

  test('takes the type from the name, then from the content, and refuses what the service does not take', async () => {
    await docmount('put', project, await localFile('LICENSE', '%PDF-1.7\n'), '/types/')
    const found = JSON.parse((await docmount('ls', project, '/types/LICENSE', '--json')).stdout) as unknown
    expect(found).toMatchObject([{ mimetype: 'application/pdf' }])
    const zip = await localFile('a.zip', 'PK')
    expect(await docmount('put', project, zip, '/types/')).toMatchObject({
      exitCode: 2,
      error: 'a.zip: the service does not take zip files (archives); --mimetype sends it as another type',
    })
    expect(await docmount('put', project, zip, '/types/', '--mimetype', 'a/b')).toMatchObject({ exitCode: 2 })
    expect(await docmount('put', project, zip, '/types/', '--mimetype', 'text/plain')).toMatchObject({
      exitCode: 0,
    })
  })

  test('takes what has no extension for what the drive takes it for', async () => {
    for (const { name, bytes, mimetype } of untypedFiles) {
      const put = await docmount('put', project, await localFile(name, bytes), '/untyped/')
      expect(put, name).toMatchObject({ exitCode: mimetype === undefined ? 2 : 0 })
      const found = await service.other.get(`/untyped/${name}`)
      expect(found?.mimetype, name).toBe(mimetype)
    }
  })

  test('says what is wrong with the local file', async () => {
    const nothing = join(temporary.path, 'nothing.txt')
    for (const options of [[], ['--skip-existing']])
      expect(await docmount('put', project, nothing, '/x.txt', ...options)).toMatchObject({
        exitCode: 1,
        error: `there is no file ${nothing}`,
      })
    expect((await docmount('put', project, temporary.path, '/x.txt')).error).toMatch(
      /is a folder: with a slash/,
    )
  })
})

describe('get', () => {
  test('writes the document with its time, replacing what is there, and leaves nothing else', async () => {
    await docmount('put', project, await localFile('a.txt', 'from the service'), '/get/a.txt')
    const target = join(temporary.path, 'out')
    await writeFile(target, 'old')
    expect((await docmount('get', project, '/get/a.txt', target)).exitCode).toBe(0)
    expect(await readFile(target, 'utf8')).toBe('from the service')
    const [entry] = JSON.parse((await docmount('ls', project, '/get', '--json')).stdout) as {
      modified_at: string
    }[]
    expect((await stat(target)).mtime.toISOString()).toBe(new Date(entry?.modified_at ?? '').toISOString())
    await docmount('get', project, '/get/a.txt', temporary.path)
    expect((await readdir(temporary.path)).toSorted()).toEqual(['a.txt', 'out'])
  })

  test('leaves the mode of what it replaces: what is nobody else’s to read stays so', async () => {
    await docmount('put', project, await localFile('m.txt', 'secret'), '/get/m.txt')
    const target = join(temporary.path, 'private')
    for (const mode of [0o600, 0o640, 0o755]) {
      await writeFile(target, 'old')
      await chmod(target, mode)
      expect((await docmount('get', project, '/get/m.txt', target)).exitCode).toBe(0)
      expect([await readFile(target, 'utf8'), (await stat(target)).mode & 0o777]).toEqual(['secret', mode])
    }
  })

  test('goes on where an expired URL or a broken connection left it', async () => {
    const content = 'x'.repeat(300_000) + 'y'.repeat(300_000)
    await docmount('put', project, await localFile('a.txt', content), '/get/long.txt')
    const { faults } = service.service
    faults.inject({ kind: 'expired-url' }, { endpoint: 'download', times: 1 })
    faults.inject({ kind: 'cut-response', afterBytes: 250_000 }, { endpoint: 'download', times: 2 })
    const target = join(temporary.path, 'out')
    service.service.clearCalls()
    expect(await docmount('get', project, '/get/long.txt', target)).toMatchObject({ exitCode: 0 })
    expect(await readFile(target, 'utf8')).toBe(content)
    const ranges = service.service.calls.filter(({ endpoint }) => endpoint === 'download')
    expect(ranges.length).toBeGreaterThan(2)
    expect(ranges.at(-1)?.range).not.toMatch(/^bytes=0-/)
  })

  test('that fails leaves neither a torn file nor the old one changed', async () => {
    await docmount('put', project, await localFile('a.txt', 'new'), '/get/torn.txt')
    const target = join(temporary.path, 'out')
    await writeFile(target, 'old')
    service.service.faults.inject({ kind: 'status', status: 400 }, { endpoint: 'download' })
    expect((await docmount('get', project, '/get/torn.txt', target)).exitCode).toBe(1)
    expect(await readFile(target, 'utf8')).toBe('old')
    expect((await readdir(temporary.path)).toSorted()).toEqual(['a.txt', 'out'])
  })

  test.each([true, false])('takes no page of a portal for a part of it (isSized: %s)', async (isSized) => {
    await docmount('put', project, await localFile('a.txt', 'y'.repeat(60_000)), '/get/paged.txt')
    const target = join(temporary.path, 'out')
    await writeFile(target, 'old')
    const page = { kind: 'page', body: '<html>log in first</html>', isSized } as const
    service.service.faults.inject(page, { endpoint: 'download', times: 1 })
    expect((await docmount('get', project, '/get/paged.txt', target)).exitCode).not.toBe(0)
    expect(await readFile(target, 'utf8')).toBe('old')
    expect((await docmount('get', project, '/get/paged.txt', target)).exitCode).toBe(0)
    expect(await readFile(target, 'utf8')).toBe('y'.repeat(60_000))
  })

  test('of a document whose size the service does not tell is whole', async () => {
    await docmount('put', project, await localFile('a.txt', 'unsized'), '/get/unsized.txt')
    service.service.faults.inject({ kind: 'omit-fields', fields: ['size', 'modified_at'] })
    const target = join(temporary.path, 'out')
    expect((await docmount('get', project, '/get/unsized.txt', target)).exitCode).toBe(0)
    expect(await readFile(target, 'utf8')).toBe('unsized')
  })

  test('goes through a link to a file, and replaces no pipe and no device', async () => {
    await docmount('put', project, await localFile('s.txt', 'content'), '/get/special.txt')
    const file = await localFile('real.txt', 'old')
    const link = join(temporary.path, 'link.txt')
    await symlink(file, link)
    expect((await docmount('get', project, '/get/special.txt', link)).exitCode).toBe(0)
    expect(await readFile(file, 'utf8')).toBe('content')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    const pipe = join(temporary.path, 'pipe')
    await run('mkfifo', [pipe])
    expect(await docmount('get', project, '/get/special.txt', pipe)).toMatchObject({
      exitCode: 1,
      error: `${pipe} is no regular file; choose another name, or - for standard output`,
    })
    expect((await lstat(pipe)).isFIFO()).toBe(true)
  })
})

describe('rm', () => {
  test('deletes a document, and a folder only when told to', async () => {
    const file = await localFile('a.txt', 'x')
    for (const path of ['/rm/a.txt', '/rm/b.txt']) await docmount('put', project, file, path)
    expect((await docmount('rm', project, '/rm/a.txt')).exitCode).toBe(0)
    expect(await docmount('rm', project, '/rm')).toMatchObject({
      exitCode: 1,
      error: '/rm is a folder; --recursive deletes it with everything in it',
    })
    expect((await docmount('ls', project, '/rm')).stdout).toBe('b.txt\n')
    expect((await docmount('rm', project, '/rm', '--recursive')).exitCode).toBe(0)
    expect((await docmount('ls', project, '/rm')).error).toMatch(/404/)
  })

  test('repeats a DELETE that was not carried out, and none that was', async () => {
    const { faults } = service.service
    const file = await localFile('a.txt', 'x')
    for (const kind of ['lost-answer', 'error-after-commit', 'status'] as const) {
      for (const path of ['/again/a.txt', '/again/deep/b.txt']) await docmount('put', project, file, path)
      faults.inject(kind === 'status' ? { kind, status: 503 } : { kind }, { method: 'DELETE', times: 1 })
      service.service.clearCalls()
      expect(await docmount('rm', project, '/again', '-r'), kind).toMatchObject({ exitCode: 0 })
      const deletes = service.service.calls.filter(({ method }) => method === 'DELETE')
      expect(deletes, kind).toHaveLength(kind === 'status' ? 2 : 1)
      expect(await service.other.get('/again')).toBeUndefined()
    }
  })

  test.each([
    ['/meanwhile', '/meanwhile/a.txt'],
    ['/meanwhile', '/meanwhile/theirs.txt'],
    ['/meanwhile', '/meanwhile'],
    ['/meanwhile/a.txt', '/meanwhile/a.txt'],
    ['/meanwhile/a.txt', '/meanwhile/a.txt/theirs.txt'],
  ])(
    'of %s leaves %s, which another client stored when a DELETE was done and not answered',
    async (path, stored) => {
      const file = await localFile('a.txt', 'x')
      if ((await service.other.get('/meanwhile')) !== undefined) await service.other.delete('/meanwhile')
      await docmount('put', project, file, '/meanwhile/a.txt')
      await using gate = await startGate(() => Number(new URL(service.baseUrl).port))
      vi.stubEnv('DOCMOUNT_BASE_URL', gate.baseUrl)
      const stolen = losingAnswerOfDelete(gate, () => service.other.put(stored, 'by another'))
      expect(await docmount('rm', project, path, '--recursive')).toMatchObject({
        exitCode: 1,
        error: `${path}: whether it was deleted is not known, and what is there now is another client's: it stays`,
      })
      await stolen
      expect((await service.other.bytes(stored)).toString()).toBe('by another')
    },
  )

  test('never deletes the root', async () => {
    for (const root of ['/', '', '//']) {
      expect(await docmount('rm', project, root, '--recursive')).toMatchObject({ exitCode: 2 })
    }
  })
})

describe('tables', () => {
  test('are created, listed, filled and matched, named by name or id', async () => {
    const id = (await docmount('tables', 'create', 'invoices', '--type', 'reconcile')).stdout.trim()
    expect((await docmount('tables', 'ls')).stdout).toContain(id)
    const rows = await localFile('rows.csv', 'number,amount\nA-1,12.50\nA-2,99\nA-3,5\n')
    const forwarded = await docmount(
      'forward',
      'invoices',
      rows,
      '--name-column',
      'number',
      '--batch',
      '2',
      '--json',
    )
    expect(JSON.parse(forwarded.stdout)).toMatchObject({ assets_created: 3, message: '3 assets created' })
    expect((await docmount('tables', 'schema', id)).stdout).toMatch(
      /^FIELD\s+TYPE\nnumber\s+string\namount\s/,
    )
    const data = await localFile('data.json', '{"number":"a-2"}')
    const result = JSON.parse(
      (await docmount('reconcile', 'invoices', '--data', data, '--json')).stdout,
    ) as object
    expect(result).toMatchObject({
      status: 'done',
      data: { number: 'A-2' },
      input: { data: { number: 'a-2' } },
    })
    expect((await docmount('reconcile', id, '--data', data)).stdout).toMatch(/^status done, row /)
    expect((await docmount('tasks', 'create', 'invoices', '--data', data)).stdout).toMatch(/^[\da-f-]{36}\n$/)
  })

  test('say what is missing', async () => {
    const rows = await localFile('rows.csv', 'a\n1\n')
    expect((await docmount('forward', 'nobody', rows)).error).toMatch(/^no table is called "nobody"/)
    expect((await docmount('forward', 'x', join(temporary.path, 'a.txt'))).exitCode).toBe(2)
    const none = join(temporary.path, 'none.csv')
    expect(await docmount('forward', 'x', none)).toMatchObject({
      exitCode: 1,
      error: `there is no file ${none}`,
    })
    expect(await docmount('reconcile', 'x')).toMatchObject({
      exitCode: 2,
      error: 'nothing to reconcile; add --data FILE or --file ID',
    })
    expect(await docmount('reconcile', 'x', '--data', rows)).toMatchObject({
      exitCode: 2,
      error: `${rows} must hold one JSON object`,
    })
  })

  test('store prints the id of the document, which reconcile takes', async () => {
    const table = (await docmount('tables', 'create', 'prices', '--type', 'reconcile')).stdout.trim()
    const rows = await localFile('prices.csv', 'sku,price\nP-1,5\n')
    await docmount('forward', table, rows)
    const document = (await docmount('tables', 'store', 'March', rows)).stdout
    expect(document).toMatch(/^[\da-f-]{36}\n$/)
    const result = await docmount('reconcile', 'prices', '--file', document.trim(), '--json')
    expect(JSON.parse(result.stdout)).toMatchObject({ data: { 'prices.csv': [{ sku: 'P-1', price: '5' }] } })
    expect(await docmount('reconcile', 'prices', '--file', 'March')).toMatchObject({
      exitCode: 2,
      error: '--file takes ids of stored documents, not "March"; docmount tables store prints them',
    })
  })

  test('reconcile takes a statement as a bank exports it, and writes it with the match of each row', async () => {
    const table = (await docmount('tables', 'create', 'open invoices', '--type', 'reconcile')).stdout.trim()
    const invoices =
      'invoice,customer,total\nINV-1041,Orchard Fruit,120.50\nINV-1042,Harbour Supplies,99.90\n'
    await docmount('forward', table, await localFile('invoices.csv', invoices), '--name-column', 'invoice')
    const bank = await localFile(
      'bank.csv',
      'Payer;Purpose;Sum\nHARBOUR SUPPLIES;thanks;99,90\nNobody;rent;1,00\n',
    )
    const out = join(temporary.path, 'matched.csv')
    const map = ['--map', 'Payer=customer', '--map', 'Sum=total']
    const done = await docmount('reconcile', table, bank, ...map, '--out', out)
    expect(done).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: `1 of 2 rows matched; written to ${out}\n`,
    })
    const [header, first, second] = (await readFile(out, 'utf8')).split('\r\n')
    expect(header).toBe('Payer,Purpose,Sum,asset name,asset id,score,why')
    expect(first).toMatch(
      /^HARBOUR SUPPLIES,thanks,"99,90",INV-1042,[\da-f-]{36},(1|0\.\d+),"Matched asset ""INV-1042""/,
    )
    expect(second).toMatch(/^Nobody,rent,"1,00",,,,"No asset matched: /)
    const shown = await docmount('reconcile', table, bank, ...map)
    expect(shown.stdout).toMatch(/^ROW +ASSET +SCORE +WHY\n +1 +INV-1042 +(1|0)\.\d\d +Matched asset/)
    const misspelt = await localFile('misspelt.csv', 'Payer;Sum\nHarbor Suplies;99,90\n')
    const strict = await docmount('reconcile', table, misspelt, ...map, '--threshold', '1')
    expect(strict.stdout).toMatch(/No asset matched: the nearest, asset "INV-1042" .* of the 1\.00 needed/)
    expect((await docmount('reconcile', table, misspelt, ...map)).stdout).toContain(
      'Matched asset "INV-1042"',
    )
    expect((await docmount('reconcile', table, misspelt, '--threshold', '2')).error).toContain('up to 1')
    const onOut = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    await docmount('reconcile', table, bank, ...map, '--out', '-')
    expect(String(onOut.mock.lastCall?.[0]).split('\r\n')[1]).toBe(first)
    onOut.mockRestore()
  })

  test.each([
    [['--map', 'Payer'], '--map takes COLUMN=FIELD, such as Payer=Customer, not "Payer"'],
    [['--map', 'Payee=customer'], 'bank.csv: it has no column "Payee"; it has Payer, Sum'],
    [['--map', 'Payer=Sum'], 'bank.csv: two columns are compared with the field "Sum"'],
    [['--data', '-'], 'give a file of rows, or --data and --file, not both'],
  ])('reconcile says what does not fit the rows: %j', async (args, error) => {
    const bank = await localFile('bank.csv', 'Payer;Sum\nA;1\n')
    const said = await docmount('reconcile', 'x', bank, ...args)
    expect({ ...said, error: said.error.replace(`${temporary.path}/`, '') }).toMatchObject({
      exitCode: 2,
      error,
    })
  })

  test('a forward whose answer is lost says which rows nobody knows of', async () => {
    await docmount('tables', 'create', 'lost', '--type', 'reconcile')
    const rows = await localFile('lost.json', JSON.stringify([{ n: 1 }, { n: 2 }, { n: 3 }]))
    service.service.faults.inject({ kind: 'lost-answer' }, { method: 'POST', path: /forward/, times: 1 })
    const lost = await docmount('forward', 'lost', rows, '--batch', '2')
    expect(lost).toMatchObject({ exitCode: 75 })
    expect(lost.error).toMatch(/whether rows 1 to 2 are in is not known$/)
  })

  test('a forward that fails half way says how to go on', async () => {
    await docmount('tables', 'create', 'half', '--type', 'reconcile')
    const rows = await localFile('rows.json', JSON.stringify([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]))
    const isForward = { method: 'POST', path: /forward/ }
    let seen = 0
    service.service.faults.random = () => (seen++ === 0 ? 1 : 0)
    service.service.faults.inject({ kind: 'status', status: 400 }, { ...isForward, probability: 0.5 })
    const failed = await docmount('forward', 'half', rows, '--batch', '2')
    service.service.faults.random = Math.random
    expect(failed.error).toMatch(/2 of 4 rows are in; the same command continues after them$/)
    service.service.faults.clear()
    const rest = await docmount('forward', 'half', rows, '--batch', '2', '--json')
    expect(JSON.parse(rest.stdout)).toMatchObject({
      assets_created: 2,
      message: '2 assets created in half; the first 2 rows were in before',
    })
  })

  test('rows that are left out by --skip do not count as forwarded', async () => {
    await docmount('tables', 'create', 'left', '--type', 'reconcile')
    const rows = await localFile('left.json', JSON.stringify([{ n: 1 }, { n: 2 }, { n: 3 }]))
    const created = async (...args: string[]): Promise<number> =>
      (JSON.parse((await docmount('forward', 'left', rows, ...args, '--json')).stdout) as never)[
        'assets_created'
      ]
    expect(await created('--skip', '2')).toBe(1)
    expect(await created()).toBe(3)
    // Rows that are in by now are no longer left out.
    expect(await created('--skip', '2')).toBe(0)
  })

  test('the same rows are forwarded to a table once, except with --again', async () => {
    await docmount('tables', 'create', 'once', '--type', 'reconcile')
    await docmount('tables', 'create', 'other', '--type', 'reconcile')
    const rows = await localFile('once.csv', 'n\n1\n2\n')
    const forward = async (...args: string[]): Promise<{ assets_created: number; message: string }> =>
      JSON.parse((await docmount('forward', ...args, '--json')).stdout) as never
    expect(await forward('once', rows)).toMatchObject({ assets_created: 2 })
    const same = await localFile('same.csv', 'n\n1\n2\n')
    expect(await forward('once', same)).toEqual({
      assets_created: 0,
      asset_ids: [],
      message: expect.stringMatching(
        /^nothing is sent: its 2 rows were forwarded to this table before \(once\.csv, .*Z\); docmount forward --again/,
      ) as unknown,
    })
    expect(await forward('once', await localFile('once.csv', 'n\n1\n2\n3\n'))).toMatchObject({
      assets_created: 3,
    })
    expect(await forward('other', same)).toMatchObject({ assets_created: 2 })
    expect(await forward('once', same, '--again')).toMatchObject({ assets_created: 2 })
  })
})

describe('the key and the service', () => {
  test('come from the config file, which others must not read when it holds the key', async () => {
    vi.stubEnv('DOCMOUNT_BASE_URL', '')
    vi.stubEnv('DOCMOUNT_API_KEY', '')
    const file = await localFile(
      'config.json',
      JSON.stringify({ base_url: service.baseUrl, api_key: service.apiKey }),
    )
    vi.stubEnv('DOCMOUNT_CONFIG', file)
    await chmod(file, 0o644)
    expect((await docmount('projects')).error).toContain(`chmod 600 ${file}`)
    await chmod(file, 0o600)
    expect((await docmount('projects')).exitCode).toBe(0)
  })

  test('that are missing or wrong are one clear line, without the key', async () => {
    vi.stubEnv('DOCMOUNT_API_KEY', 'wrong-key')
    const refused = await docmount('ls', project)
    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused.error).toMatch(/^GET \/: 401 /)
    expect(refused.error).not.toContain('wrong-key')
    vi.stubEnv('DOCMOUNT_API_KEY', '')
    expect((await docmount('ls', project)).error).toMatch(
      /^no API key; run docmount login, or set DOCMOUNT_API_KEY/,
    )
    vi.stubEnv('DOCMOUNT_BASE_URL', '')
    expect(await docmount('ls', project)).toMatchObject({ exitCode: 2 })
  })

  test('that cannot be reached exit with 75', async () => {
    const unreachable = await docmount('ls', project, '--base-url', 'http://127.0.0.1:1/api')
    expect(unreachable).toMatchObject({ exitCode: 75 })
    expect(unreachable.error).toMatch(/^GET \/: no connection: connect ECONNREFUSED/)
  })
})
