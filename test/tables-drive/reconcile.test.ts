import { describe, expect, test } from 'vitest'
import { contentOf } from '../api/client-support.ts'
import { codeOf, openTablesDrive } from './drive-setup.ts'

const folder = '/.tables/t/reconcile'

describe('a file dropped into reconcile/', () => {
  test('is matched when it is closed; the result is the Reconcile result', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.tables.forward(id, [{ assetName: 'March', rowData: { invoice: 'INV-7', total: 12 } }])
    await drive.door.writeFile(`${folder}/ask.json`, JSON.stringify({ invoice: 'inv 7', total: null }))
    expect(await drive.json(`${folder}/ask.json.result.json`)).toEqual({
      data: { invoice: 'INV-7', total: 12 },
      created_at: expect.stringMatching(/Z$/) as string,
      row_id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      reasoning: expect.stringContaining('March') as string,
      review: { comment: '', reviewed_by: '', approved: false },
      status: 'done',
      input: { data: { invoice: 'inv 7', total: null } },
    })
  })

  test('may be a whole Reconcile input, with files', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.tables.forward(id, [{ assetName: 'a', rowData: { data: 'D-1' } }])
    const input = { data: { data: 'D-1' }, files: [] }
    await drive.door.writeFile(`${folder}/input.json`, JSON.stringify(input))
    expect(await drive.json(`${folder}/input.json.result.json`)).toMatchObject({
      input,
      data: { data: 'D-1' },
    })
    // A field that happens to be called so is a field.
    await drive.door.writeFile(`${folder}/values.json`, JSON.stringify({ data: 'D-1' }))
    expect(await drive.json(`${folder}/values.json.result.json`)).toMatchObject({
      input: { data: { data: 'D-1' } },
    })
  })

  test.each([
    ['a.json', '[1]', 'a file to reconcile holds one JSON object'],
    ['a.json', 'no', 'not JSON'],
    ['a.csv', '"a\n1\n', expect.stringMatching(/^not CSV: /) as unknown],
    ['a.txt', 'a', 'a.txt: only a .json, .csv or .xlsx file is taken here'],
  ])('that is bad says so at close and in its result: %s %s', async (name, content, errorMessage) => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    expect(await codeOf(drive.door.writeFile(`${folder}/${name}`, content))).toBe('EINVAL')
    expect(await drive.json(`${folder}/${name}.result.json`)).toEqual({ errorMessage })
  })

  test('that holds rows becomes the same table with the match of each row', async () => {
    await using drive = await openTablesDrive()
    const id = await drive.makeTable('t')
    await drive.tables.forward(id, [{ assetName: 'March', rowData: { invoice: 'INV-7', total: 12 } }])
    await drive.door.writeFile(`${folder}/bank.csv`, 'Purpose,Sum\ninvoice INV-7,"12,00"\nrent,5\n')
    expect((await drive.door.readdir(folder)).sort()).toEqual(['bank.csv', 'bank.csv.result.csv'])
    const result = (await drive.door.readFile(`${folder}/bank.csv.result.csv`)).toString()
    const [header, first, second] = result.split('\r\n')
    expect(header).toBe('Purpose,Sum,asset name,asset id,score,why')
    expect(first).toMatch(/^invoice INV-7,"12,00",March,[\da-f-]{36},/)
    expect(second).toMatch(/^rent,5,,,,"?No asset matched: /)
    // A result is never taken for something to match, and makes way for the next.
    expect(await codeOf(drive.door.writeFile(`${folder}/bank.csv.result.csv`, 'x'))).toBe('EACCES')
    expect(await codeOf(drive.door.writeFile(`${folder}/bank.csv`, '"'))).toBe('EINVAL')
    expect((await drive.door.readdir(folder)).sort()).toEqual(['bank.csv', 'bank.csv.result.json'])
  })

  test('the service has no answer for fails with its words, and is asked once', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    await drive.door.readdir('/.tables/t')
    drive.testService.service.faults.inject(
      { kind: 'status', status: 500 },
      { endpoint: 'tables', method: 'POST' },
    )
    drive.testService.service.clearCalls()
    const file = await drive.door.open(`${folder}/a.json`, 'w')
    await file.write('{"a":1}', 0)
    expect(await codeOf(file.close())).toBe('EIO')
    expect(Object.keys(await drive.json(`${folder}/a.json.result.json`))).toEqual(['errorMessage'])
    expect(await codeOf((await drive.door.open(`${folder}/a.json`, 'r+')).close())).toBe('EIO')
    expect(drive.testService.service.calls).toHaveLength(1)
  })

  test('whose run ends in an error fails, and the result is the run', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const unkept = {
      mimetype: 'text/csv',
      filename: 'a.csv',
      content: contentOf([Buffer.from('item\na\n')]),
    } as const
    const { asset_ids: ids } = (await drive.tables.createStorage('s', {
      ...unkept,
      zeroRetentionMode: true,
    })) as { asset_ids: string[] }
    const files = [{ id: ids[0] }]
    expect(await codeOf(drive.door.writeFile(`${folder}/ask.json`, JSON.stringify({ files })))).toBe('EIO')
    expect(await drive.json(`${folder}/ask.json.result.json`)).toMatchObject({ status: 'error' })
  })

  test('that asks for more than a run may take is refused in the service’s words', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const many = { a: Array.from({ length: 5_001 }, (_, index) => index) }
    expect(await codeOf(drive.door.writeFile(`${folder}/many.json`, JSON.stringify(many)))).toBe('EFBIG')
    expect(Object.keys(await drive.json(`${folder}/many.json.result.json`))).toEqual(['errorMessage'])
  })

  test('on a service out of reach says so', async () => {
    await using drive = await openTablesDrive()
    await drive.makeTable('t')
    const file = await drive.door.open(`${folder}/a.json`, 'w')
    await file.write('{"a":1}', 0)
    await drive.testService.stop()
    expect(await codeOf(file.close())).toBe('ETIMEDOUT')
  })
})
