import { describe, expect, test } from 'vitest'
import { contentOf } from '../api/client-support.ts'
import { codeOf, openTablesDrive } from './drive-setup.ts'

describe('the folder .tables', () => {
  test('stands in the root beside the documents, once', async () => {
    await using drive = await openTablesDrive({ given: { '/a.txt': 'a', '/docs/b.txt': 'b' } })
    expect((await drive.door.readdir('/')).sort()).toEqual(['.tables', 'a.txt', 'docs'])
    expect(await drive.door.readdir('/docs')).toEqual(['b.txt'])
    expect(await drive.door.stat('/.tables')).toMatchObject({ kind: 'folder', mode: 0o555 })
    expect((await drive.door.readFile('/a.txt')).toString()).toBe('a')
  })

  test('is listed in pieces like any folder: no name twice, none left out', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `file-${String(index).padStart(2, '0')}.txt`)
    const given = Object.fromEntries(names.map((name) => [`/${name}`, name]))
    await using drive = await openTablesDrive({ given })
    expect((await drive.door.readdir('/')).sort()).toEqual(['.tables', ...names])
  })

  test('holds a folder per table with its description, its schema and two places to drop files', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('ledger')
    await drive.tables.forward(id, [{ assetName: 'a', rowData: { invoice: 'I-1', total: 5 } }])
    expect(await drive.door.readdir('/.tables')).toEqual(['ledger'])
    expect((await drive.door.readdir('/.tables/ledger')).sort()).toEqual([
      'forward',
      'reconcile',
      'schema.json',
      'table.json',
    ])
    expect(await drive.json('/.tables/ledger/table.json')).toEqual({
      name: 'ledger',
      type: 'Reconcile',
      id,
      created_at: expect.stringMatching(/Z$/) as string,
      settings: { type: 'reconcile' },
    })
    expect(await drive.json('/.tables/ledger/schema.json')).toMatchObject({
      name: 'ledger',
      id,
      fields: { invoice: { type: 'string' }, total: { type: 'number' } },
      order: ['invoice', 'total'],
    })
    const { size } = await drive.door.stat('/.tables/ledger/schema.json')
    expect(size).toBe((await drive.door.readFile('/.tables/ledger/schema.json')).length)
  })

  test('has no places to drop files in the folder of a storage table', async () => {
    await using drive = await openTablesDrive()
    const content = contentOf([Buffer.from('a,b\n1,2\n')])
    await drive.tables.createStorage('March', { mimetype: 'text/csv', filename: 'a.csv', content })
    expect((await drive.door.readdir('/.tables/March')).sort()).toEqual(['schema.json', 'table.json'])
    expect(await codeOf(drive.door.writeFile('/.tables/March/forward/a.csv', 'a\n1\n'))).toBe('ENOENT')
  })

  test('makes names possible and different', async () => {
    await using drive = await openTablesDrive()
    const slashed = await drive.makeTable('2024/Q1')
    const plain = await drive.makeTable('2024_Q1')
    await drive.makeTable('..')
    expect((await drive.door.readdir('/.tables')).sort()).toEqual(['2024_Q1', `2024_Q1 (${plain})`, '_..'])
    expect(await drive.json('/.tables/2024_Q1/table.json')).toMatchObject({ id: slashed })
  })

  test('is asked for once per cache TTL, and again after a refresh', async () => {
    await using drive = await openTablesDrive({ cacheTtlMs: 600_000 })
    await drive.makeTable('first')
    expect(await drive.door.readdir('/.tables')).toEqual(['first'])
    await drive.makeTable('second')
    drive.testService.service.clearCalls()
    expect(await drive.door.readdir('/.tables')).toEqual(['first'])
    expect(drive.testService.service.calls).toEqual([])
    await drive.fileSystem.refresh('/.tables')
    expect(await drive.door.readdir('/.tables')).toEqual(['first', 'second'])
  })

  test('answers an error while the service cannot be asked, and the documents are not harmed by it', async () => {
    await using drive = await openTablesDrive({ given: { '/a.txt': 'a' } })
    await drive.testService.stop()
    expect(await codeOf(drive.door.readdir('/.tables'))).toBe('ETIMEDOUT')
    expect((await drive.door.readdir('/')).sort()).toEqual(['.tables', 'a.txt'])
  })

  test('is no place for anything else', async () => {
    await using drive = await openTablesDrive({ given: { '/a.txt': 'a', '/d/b.txt': 'b' } })
    await drive.makeTable('t')
    const { door } = drive
    expect({
      mkdir: await codeOf(door.mkdir('/.tables')),
      makeTable: await codeOf(door.mkdir('/.tables/new')),
      makeBelow: await codeOf(door.mkdir('/.tables/t/forward/x')),
      file: await codeOf(door.writeFile('/.tables/x.csv', 'a')),
      fileBelow: await codeOf(door.writeFile('/.tables/t/x.csv', 'a')),
      overwrite: await codeOf(door.writeFile('/.tables/t/table.json', '{}')),
      remove: await codeOf(door.unlink('/.tables/t/table.json')),
      removeFolder: await codeOf(door.rmdir('/.tables/t/forward')),
      removeTable: await codeOf(door.rmdir('/.tables/t')),
      removeAll: await codeOf(door.rmdir('/.tables')),
      renameAway: await codeOf(door.rename('/.tables', '/tables')),
      renameOnto: await codeOf(door.rename('/d', '/.tables')),
      renameIn: await codeOf(door.rename('/a.txt', '/.tables/t/forward/a.csv')),
      chmod: await codeOf(door.chmod('/.tables/t', 0o777)),
    }).toEqual({
      mkdir: 'EEXIST',
      makeTable: 'EPERM',
      makeBelow: 'EPERM',
      file: 'EPERM',
      fileBelow: 'EPERM',
      overwrite: 'EACCES',
      remove: 'EPERM',
      removeFolder: 'EPERM',
      removeTable: 'EPERM',
      removeAll: 'EPERM',
      renameAway: 'EPERM',
      renameOnto: 'EEXIST',
      renameIn: 'EXDEV',
      chmod: 'EPERM',
    })
  })

  test('gives way to one the project has, with one warning', async () => {
    await using drive = await openTablesDrive({ given: { '/.tables/own.txt': 'mine' } })
    await drive.makeTable('t')
    expect(await drive.door.readdir('/.tables')).toEqual(['own.txt'])
    expect(drive.warnings).toEqual(['the project has a folder of this name: its tables are not shown'])
  })

  test('stays when the project gets one later: listed once, one warning', async () => {
    await using drive = await openTablesDrive({ cacheTtlMs: 0 })
    await drive.makeTable('t')
    await drive.testService.other.put('/.tables/own.txt', 'mine')
    expect(await drive.door.readdir('/')).toEqual(['.tables'])
    expect(await drive.door.readdir('/')).toEqual(['.tables'])
    expect(await drive.door.readdir('/.tables')).toEqual(['t'])
    expect(drive.warnings).toHaveLength(1)
  })

  test('of a read-only drive can be read, and takes nothing', async () => {
    await using drive = await openTablesDrive({ readOnly: true })
    await drive.makeTable('t')
    expect(await drive.json('/.tables/t/table.json')).toMatchObject({ name: 't' })
    expect(await drive.json('/.tables/t/schema.json')).toMatchObject({ name: 't' })
    expect(await codeOf(drive.door.writeFile('/.tables/t/forward/a.csv', 'a\n1\n'))).toBe('EROFS')
  })
})

test('open files of both sides never share a handle, and no node number', async () => {
  await using drive = await openTablesDrive({ given: { '/a.txt': 'document' } })
  await drive.makeTable('t')
  const document = await drive.door.open('/a.txt', 'r')
  const generated = await drive.door.open('/.tables/t/table.json', 'r')
  const again = await drive.door.open('/a.txt', 'r')
  expect((await document.read(100, 0)).toString()).toBe('document')
  expect((await generated.read(10_000, 0)).toString()).toContain('"name": "t"')
  expect((await again.read(100, 0)).toString()).toBe('document')
  for (const file of [document, generated, again]) await file.close()
  const { ino: documentIno } = await drive.door.stat('/a.txt')
  const { ino: generatedIno } = await drive.door.stat('/.tables/t/table.json')
  expect(generatedIno).toBeGreaterThanOrEqual(2 ** 48)
  expect(generatedIno % 2 ** 32).toBeGreaterThan(documentIno)
})
