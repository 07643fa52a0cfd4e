import { describe, expect, test } from 'vitest'
import { errnoOf } from '../../src/fs/errno-of.ts'
import type { Caller } from '../../src/fs/operations.ts'
import { xlsxOfLines } from '../rows/xlsx-file.ts'
import { waitUntil } from '../support/wait-until.ts'
import { codeOf, matched, openTablesDrive, type TablesDrive } from './drive-setup.ts'

const folder = '/.tables/t/forward'

describe('a file dropped into forward/', () => {
  test.each([
    ['rows.csv', 'sku,price\nA-1,10\nA-2,20\n'],
    ['rows.json', JSON.stringify([{ sku: 'A-1', price: 10 }, { sku: 'A-2' }])],
    ['ROWS.CSV', 'sku;price\nA-1;10\nA-2;20\n'],
    [
      'rows.xlsx',
      xlsxOfLines([
        ['sku', 'price'],
        ['A-1', 10],
        ['A-2', 20],
      ]),
    ],
  ])('becomes assets when it is closed: %s', async (name, content) => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.door.writeFile(`${folder}/${name}`, content)
    expect((await drive.door.readdir(folder)).sort()).toEqual([name, `${name}.result.json`])
    expect(await drive.json(`${folder}/${name}.result.json`)).toEqual({
      assets_created: 2,
      asset_ids: [
        expect.stringMatching(/^[\da-f-]{36}$/),
        expect.stringMatching(/^[\da-f-]{36}$/),
      ] as unknown,
      message: '2 assets created in t',
    })
    expect(await matched(drive.tables, id, 'sku', ['A-1', 'A-2'])).toEqual(['A-1', 'A-2'])
    expect(await drive.json('/.tables/t/schema.json')).toMatchObject({
      order: expect.arrayContaining(['sku']) as unknown,
    })
  })

  test('holds Forward items as the interface has them, or rows with a name', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    const items = [{ asset_name: 'first', row_data: { sku: 'A-1' } }]
    await drive.door.writeFile(`${folder}/items.json`, JSON.stringify(items))
    await drive.door.writeFile(`${folder}/rows.csv`, 'name,sku\nsecond,A-2\n')
    await drive.door.writeFile(`${folder}/bare.csv`, 'sku\nA-3\n')
    const data = { sku: ['A-1', 'A-2', 'A-3'], asset_name: [null, null, null] }
    expect((await drive.tables.reconcile(id, { data })).data).toEqual({
      sku: ['A-1', 'A-2', 'A-3'],
      asset_name: ['first', 'second', 'bare.csv 1'],
    })
  })

  test('goes in batches, however many rows it has', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const rows = Array.from({ length: 10_000 }, (_, index) => `S-${index},${index}`)
    drive.testService.service.clearCalls()
    await drive.door.writeFile(`${folder}/many.csv`, `sku,price\n${rows.join('\n')}\n`)
    const {
      assets_created: created,
      asset_ids: ids,
      message,
    } = await drive.json(`${folder}/many.csv.result.json`)
    expect({ created, message }).toEqual({ created: 10_000, message: '10000 assets created' })
    expect(new Set(ids as string[]).size).toBe(10_000)
    expect(drive.testService.service.calls.filter(({ method }) => method === 'POST')).toHaveLength(20)
  })

  test('stops nobody while it is read, however large it is', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const rows = Array.from({ length: 200_000 }, (_, index) => `S-${index},${index},"some words of it"`)
    const large = `sku,price,words\n${rows.join('\n')}\n`
    const over = new AbortController()
    const taken = codeOf(drive.door.writeFile(`${folder}/large.csv`, `${large}"not closed`)).finally(() =>
      over.abort(),
    )
    let answers = 0
    while (!over.signal.aborted) {
      await drive.door.stat('/.tables')
      await new Promise((resolve) => setImmediate(resolve))
      answers++
    }
    expect(await taken).toBe('EINVAL')
    expect(await drive.json(`${folder}/large.csv.result.json`)).toMatchObject({ errorMessage: /^not CSV: / })
    expect(answers).toBeGreaterThan(100)
  })

  test('is sent as it is, each row once, also where a thread reads it', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const rows = Array.from({ length: 1_200 }, (_, index) => `S-${index},${'words '.repeat(60)}`)
    await drive.door.writeFile(`${folder}/wide.csv`, `sku,words\n${rows.slice(0, 1_000).join('\n')}\n`)
    await drive.door.appendFile(`${folder}/wide.csv`, `${rows.slice(1_000).join('\n')}\n`)
    expect(await drive.json(`${folder}/wide.csv.result.json`)).toMatchObject({ assets_created: 1_200 })
  })

  test.each([
    ['bad.json', '{"a":', 'not JSON'],
    ['bad.xlsx', 'no zip', 'not an XLSX file: it is no zip archive'],
    ['empty.csv', 'sku,price\n', 'the file holds no rows'],
    ['notes.txt', 'some words', 'notes.txt: only a .csv, .json or .xlsx file is taken here'],
  ])('that is bad says so at close and in its result: %s', async (name, content, errorMessage) => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    expect(await codeOf(drive.door.writeFile(`${folder}/${name}`, content))).toBe('EINVAL')
    expect(await drive.json(`${folder}/${name}.result.json`)).toEqual({ errorMessage })
    await drive.door.writeFile(`${folder}/good.csv`, 'sku\nA-1\n')
  })

  test('for a table of another kind is refused in the words of the service', async () => {
    await using drive = await openTablesDrive()
    await drive.tables.create({ name: 't' })
    expect(await codeOf(drive.door.writeFile(`${folder}/a.csv`, 'a\n1\n'))).toBe('EINVAL')
    expect(await drive.json(`${folder}/a.csv.result.json`)).toEqual({
      errorMessage: 't is a table of type Extraction: this needs type Reconcile',
    })
  })

  test('that is fixed and saved again is taken, and the result is the new one', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    expect(await codeOf(drive.door.writeFile(`${folder}/a.json`, '[{"sku":'))).toBe('EINVAL')
    await drive.door.writeFile(`${folder}/a.json`, '[{"sku":"A-1"}]')
    expect(await drive.json(`${folder}/a.json.result.json`)).toMatchObject({ assets_created: 1 })
    expect(await matched(drive.tables, id, 'sku', ['A-1', 'A-1'])).toEqual(['A-1', null])
  })

  test('closed many times is forwarded once', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    const file = await drive.door.open(`${folder}/a.csv`, 'w')
    await file.write('sku\nA-1\n', 0)
    await file.close()
    for (const mode of ['r+', 'r', 'a'] as const)
      await (await drive.door.open(`${folder}/a.csv`, mode)).close()
    expect(await matched(drive.tables, id, 'sku', ['A-1', 'A-1'])).toEqual(['A-1', null])
  })

  test('that grows sends its new rows only', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.door.writeFile(`${folder}/log.csv`, 'sku\n').catch(() => undefined)
    await drive.door.appendFile(`${folder}/log.csv`, 'A-1\n')
    await drive.door.appendFile(`${folder}/log.csv`, 'A-2\nA-3\n')
    expect(await drive.json(`${folder}/log.csv.result.json`)).toMatchObject({ assets_created: 3 })
    const all = ['A-1', 'A-1', 'A-2', 'A-2', 'A-3']
    expect(await matched(drive.tables, id, 'sku', all)).toEqual(['A-1', null, 'A-2', null, 'A-3'])
  })

  test('whose forwarded rows are changed in place is refused, as often as it is tried', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.door.writeFile(`${folder}/a.csv`, 'sku\nA-1\n')
    for (const sku of ['B-1', 'C-1']) {
      const file = await drive.door.open(`${folder}/a.csv`, 'r+')
      await file.write(sku, 4)
      expect(await codeOf(file.close())).toBe('EINVAL')
    }
    expect(await drive.json(`${folder}/a.csv.result.json`)).toEqual({
      errorMessage: 'its first row was forwarded and changed since; drop it as a new file',
    })
    expect(await matched(drive.tables, id, 'sku', ['B-1', 'C-1'])).toEqual([null, null])
  })

  test('dropped anew is forwarded anew if it holds other rows, and says so if it holds the same', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.door.writeFile(`${folder}/a.csv`, 'sku,n\nA-1,1\n')
    for (const name of ['a.csv', 'copy.csv']) {
      await drive.door.writeFile(`${folder}/${name}`, 'sku,n\nA-1,1\n')
      expect(await drive.json(`${folder}/${name}.result.json`)).toEqual({
        assets_created: 0,
        asset_ids: [],
        message: expect.stringMatching(
          /^nothing is sent: its one row was forwarded .* \(a\.csv, /,
        ) as unknown,
      })
    }
    expect(await matched(drive.tables, id, 'n', [1, 1])).toEqual(['1', null])
    await drive.door.writeFile(`${folder}/a.csv`, 'sku,n\nA-1,1\nA-2,1\n')
    expect(await drive.json(`${folder}/a.csv.result.json`)).toMatchObject({ assets_created: 2 })
    // The next table has none of it.
    await drive.makeTable('u')
    await drive.fileSystem.refresh('/.tables')
    await drive.door.writeFile('/.tables/u/forward/a.csv', 'sku,n\nA-1,1\n')
    expect(await drive.json('/.tables/u/forward/a.csv.result.json')).toMatchObject({ assets_created: 1 })
  })

  test('that went in partly goes on where it stopped when it is dropped again', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const content = `sku\n${Array.from({ length: 1_200 }, (_, index) => `S-${index}`).join('\n')}\n`
    const { faults } = drive.testService.service
    await drive.door.readdir('/.tables/t')
    const second = { endpoint: 'tables', method: 'POST', times: 1, probability: 0.5 } as const
    const draws = [0.9, 0.1]
    faults.random = () => draws.shift() ?? 1
    faults.inject({ kind: 'status', status: 503 }, second)
    expect(await codeOf(drive.door.writeFile(`${folder}/a.csv`, content))).toBe('ETIMEDOUT')
    const partly = await drive.json(`${folder}/a.csv.result.json`)
    expect(partly).toMatchObject({ assets_created: 500 })
    expect(partly['errorMessage']).toContain('500 of 1200 rows are in')
    expect(partly['errorMessage']).toContain('whether rows 501 to 1000 are in is not known')
    await drive.door.writeFile(`${folder}/a.csv`, content)
    expect(await drive.json(`${folder}/a.csv.result.json`)).toMatchObject({
      assets_created: 700,
      message: '700 assets created; the first 500 rows were in before',
    })
  })

  test('is not sent while it has no content, nor by sync', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    await (await drive.door.open(`${folder}/a.csv`, 'w')).close()
    expect(await drive.door.readdir(folder)).toEqual(['a.csv'])
    const file = await drive.door.open(`${folder}/a.csv`, 'w')
    await file.write('sku\n', 0)
    await file.sync()
    expect(await drive.door.readdir(folder)).toEqual(['a.csv'])
    await file.write('A-1\n', 4)
    await file.close()
    expect(await drive.json(`${folder}/a.csv.result.json`)).toMatchObject({ assets_created: 1 })
  })

  test('can be read, dated, cut and deleted, and so can its result', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const { door } = drive
    await door.writeFile(`${folder}/a.csv`, 'sku\nA-1\n')
    expect((await door.readFile(`${folder}/a.csv`)).toString()).toBe('sku\nA-1\n')
    await door.utimes(`${folder}/a.csv`, 1_000_000, 1_000_000)
    expect((await door.stat(`${folder}/a.csv`)).mtimeNs).toBe(1_000_000n * 1_000_000_000n)
    await door.truncate(`${folder}/a.csv`, 3)
    expect((await door.readFile(`${folder}/a.csv`)).toString()).toBe('sku')
    expect(await codeOf(door.writeFile(`${folder}/a.csv.result.json`, '{}'))).toBe('EACCES')
    expect(await codeOf(door.writeFile(`${folder}/b.csv.result.json`, '{}'))).toBe('EPERM')
    await door.unlink(`${folder}/a.csv.result.json`)
    await door.unlink(`${folder}/a.csv`)
    expect(await door.readdir(folder)).toEqual([])
  })

  test('of more than 64 MiB is refused while it is written, and so is what leaves no room', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const file = await drive.door.open(`${folder}/huge.part`, 'w')
    expect(await codeOf(file.truncate(64 * 1024 * 1024 + 1))).toBe('EFBIG')
    expect(await codeOf(file.write('x', 64 * 1024 * 1024))).toBe('EFBIG')
    await file.close()
    for (const name of ['1.part', '2.part', '3.part']) {
      const big = await drive.door.open(`${folder}/${name}`, 'w')
      await big.truncate(63 * 1024 * 1024)
      await big.close()
    }
    const last = await drive.door.open(`${folder}/4.part`, 'w')
    expect(await codeOf(last.truncate(64 * 1024 * 1024))).toBe('none')
    expect(await codeOf(drive.door.writeFile(`${folder}/5.part`, Buffer.alloc(8 * 1024 * 1024)))).toBe(
      'ENOSPC',
    )
    await last.truncate(0)
    await last.close()
    await drive.door.writeFile(`${folder}/6.csv`, 'sku\nA-1\n')
  })
})

describe('a file that gets its name by rename', () => {
  test.each(['rows.csv.part', '.rows.csv.Xa3b9Z', 'rows.tmp', 'sedAb12cD', '.goutputstream-X1Y2Z3'])(
    'from %s is forwarded then, once',
    async (temporary) => {
      await using drive = await openTablesDrive()
      const id = await drive.makeTable('t')
      await drive.door.writeFile(`${folder}/${temporary}`, 'sku\nA-1\n')
      expect(await drive.door.readdir(folder)).toEqual([temporary])
      await drive.door.rename(`${folder}/${temporary}`, `${folder}/rows.csv`)
      expect((await drive.door.readdir(folder)).sort()).toEqual(['rows.csv', 'rows.csv.result.json'])
      await drive.door.rename(`${folder}/rows.csv`, `${folder}/rows.csv~`)
      await drive.door.rename(`${folder}/rows.csv~`, `${folder}/rows.csv`)
      expect(await matched(drive.tables, id, 'sku', ['A-1', 'A-1'])).toEqual(['A-1', null])
    },
  )

  test('keeps its old name when the table refuses it', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    await drive.door.writeFile(`${folder}/a.part`, 'no json')
    expect(await codeOf(drive.door.rename(`${folder}/a.part`, `${folder}/a.json`))).toBe('EINVAL')
    expect((await drive.door.readdir(folder)).sort()).toEqual(['a.json.result.json', 'a.part'])
  })

  test('moved to another table goes to that one too', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const other = await drive.makeTable('u')
    await drive.door.writeFile(`${folder}/a.csv`, 'sku\nA-1\n')
    await drive.door.rename(`${folder}/a.csv`, '/.tables/u/forward/a.csv')
    expect(await drive.json('/.tables/u/forward/a.csv.result.json')).toMatchObject({ assets_created: 1 })
    expect(await matched(drive.tables, other, 'sku', ['A-1'])).toEqual(['A-1'])
  })
})

describe('while the service takes its time', () => {
  const write = { read: false, write: true, truncate: false }
  const someone = (signal: AbortSignal): Caller => ({ uid: 0, gid: 0, pid: 1, signal })

  /** A file with one row, written and not closed yet; the service answers late from here on. */
  async function written(drive: TablesDrive): Promise<number> {
    const { fileSystem, testService } = drive
    const { ino } = await drive.door.stat(folder)
    const caller = someone(new AbortController().signal)
    const options = { mode: 0o644, flags: write, exclusive: true }
    const { opened } = await fileSystem.create(ino, 'a.csv', options, caller)
    await fileSystem.write(opened.fh, 0, Buffer.from('sku\nA-1\n'), caller)
    testService.service.faults.inject(
      { kind: 'latency', ms: 1_000 },
      { endpoint: 'tables', method: 'POST', times: 1 },
    )
    testService.service.clearCalls()
    return opened.fh
  }

  test('closes at the same time wait for one call, and no result is seen before its end', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const fh = await written(drive)
    const caller = someone(new AbortController().signal)
    const closes = Promise.all([1, 2, 3].map(async () => drive.fileSystem.flush(fh, caller)))
    await waitUntil('the call', () => drive.testService.service.calls.length === 1)
    expect(await drive.door.readdir(folder)).toEqual(['a.csv'])
    await closes
    expect(await drive.json(`${folder}/a.csv.result.json`)).toMatchObject({ assets_created: 1 })
    expect(drive.testService.service.calls).toHaveLength(1)
    await drive.fileSystem.release(fh)
  })

  test('a close that is interrupted ends at once, and its result says what is not known', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const fh = await written(drive)
    const interrupt = new AbortController()
    const close = codeOfFlush(drive, fh, someone(interrupt.signal))
    await waitUntil('the call', () => drive.testService.service.calls.length === 1)
    interrupt.abort()
    expect(await close).toBe('EINTR')
    expect(await drive.json(`${folder}/a.csv.result.json`)).toEqual({
      errorMessage: 'interrupted before the service answered; whether rows 1 to 1 are in is not known',
    })
    await drive.fileSystem.release(fh)
  })

  async function codeOfFlush(drive: TablesDrive, fh: number, caller: Caller): Promise<string> {
    try {
      await drive.fileSystem.flush(fh, caller)
      return 'none'
    } catch (error) {
      return errnoOf(error)
    }
  }
})
