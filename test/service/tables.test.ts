import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { xlsxOfLines } from '../rows/xlsx-file.ts'
import { errorOf, type TestService, documentOf, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService({ projects: ['acme', 'other'] })
})
afterAll(() => service.close())

type Body = Record<string, unknown>
interface Answer {
  readonly status: number
  readonly body: Body
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
let names = 0
const freshName = (): string => `table ${++names}`

async function post(path: string, body: unknown): Promise<Answer> {
  const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return answerOf(await service.call('POST', `/projects/acme/tables${path}`, init))
}

async function get(path: string): Promise<Answer> {
  return answerOf(await service.call('GET', `/projects/acme/tables${path}`))
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, body: (await response.json()) as Body }
}

async function create(type: string, settings: Body = {}): Promise<string> {
  const { body } = await post('', { name: freshName(), settings: { type, ...settings } })
  return String(body['id'])
}

async function forward(tableId: string, rows: readonly Body[]): Promise<Answer> {
  return post(`/${tableId}/forward`, {
    type: 'data',
    data: rows.map((row, at) => ({ asset_name: `row ${at}`, row_data: row })),
  })
}

/** The id of a stored document. */
async function store(content: Uint8Array | string, mimetype: string, more: Body = {}): Promise<string> {
  const document = { ...documentOf(content, mimetype), ...more }
  const { body } = await post('/storage', { name: freshName(), document })
  return (body['asset_ids'] as string[])[0]!
}

function expectError(answer: Answer, status: number, message: string | RegExp): void {
  expect(Object.keys(answer.body)).toEqual(['errorMessage'])
  expect(answer.body['errorMessage']).toMatch(message)
  expect(answer.status).toBe(status)
}

describe('creating a table', () => {
  test('takes name, id, created_at and settings, and answers 201 with the Table', async () => {
    const table = {
      name: freshName(),
      id: randomUUID(),
      created_at: '2026-01-02T03:04:05.678Z',
      settings: { type: 'Reconcile', note: [1] },
    }
    expect(await post('', table)).toEqual({ status: 201, body: { ...table, type: 'Reconcile' } })
  })

  test('takes an id in capital letters for the same as in small ones', async () => {
    const id = randomUUID()
    const made = await post('', { name: freshName(), id: id.toUpperCase(), settings: { type: 'reconcile' } })
    expect(made).toMatchObject({ status: 201, body: { id } })
    expect((await get(`/${id.toUpperCase()}/schema`)).status).toBe(200)
    const document = await store('a\n1\n', 'text/csv')
    const run = await post(`/${id}/reconcile`, { files: [{ id: document.toUpperCase() }] })
    expect(run).toMatchObject({ status: 200, body: { status: 'done' } })
  })

  test('needs a name only: id and time are made, the kind is extraction', async () => {
    const { status, body } = await post('', { name: freshName() })
    expect(status).toBe(201)
    expect(body).toEqual({
      name: body['name'],
      type: 'Extraction',
      id: expect.stringMatching(uuid),
      created_at: expect.stringMatching(dateTime),
      settings: {},
    })
  })

  test.each([
    ['extraction', 'Extraction'],
    ['reconciliation', 'Reconcile'],
    ['STORAGE', 'Storage'],
  ])('of settings.type %s, or of type, answers type %s', async (type, expected) => {
    expect((await post('', { name: freshName(), settings: { type } })).body['type']).toBe(expected)
    expect((await post('', { name: freshName(), type })).body['type']).toBe(expected)
    const both = { name: freshName(), type: expected, settings: { type } }
    expect((await post('', both)).body['type']).toBe(expected)
  })

  test.each([
    ['no name', {}, /name/],
    ['an empty name', { name: '' }, /name/],
    ['an id that is no uuid', { name: 'x', id: '7' }, /uuid/],
    ['a created_at that is no date-time', { name: 'x', created_at: 'yesterday' }, /date-time/],
    ['a uuid with something before it', { name: 'x', id: `urn:uuid:${randomUUID()}` }, /uuid/],
    ['a leap second', { name: 'x', created_at: '2016-12-31T23:59:60Z' }, /created_at is no time/],
    [
      'a time before all years',
      { name: 'x', created_at: '0000-01-01T00:00:00+01:00' },
      /created_at is no time/,
    ],
    [
      'a time after all years',
      { name: 'x', created_at: '9999-12-31T23:59:59-01:00' },
      /created_at is no time/,
    ],
    ['a name with a NUL', { name: 'x\0y' }, /name/],
    ['settings that are no object', { name: 'x', settings: 'reconcile' }, /settings/],
    ['an unknown type', { name: 'x', type: 'graph' }, 'type must be extraction, reconcile or storage'],
    [
      'two kinds',
      { name: 'x', type: 'Storage', settings: { type: 'reconcile' } },
      'type and settings.type name different kinds',
    ],
    [
      'an unknown kind',
      { name: 'x', settings: { type: 'graph' } },
      'settings.type must be extraction, reconcile or storage',
    ],
    [
      'a schema that is no object',
      { name: 'x', settings: { schema: [] } },
      'settings.schema must be an object',
    ],
    [
      'a schema without proper fields',
      { name: 'x', settings: { schema: { fields: ['a'] } } },
      'settings.schema.fields',
    ],
    [
      'a schema without proper order',
      { name: 'x', settings: { schema: { order: [1] } } },
      'settings.schema.order',
    ],
  ])('answers 400 to %s', async (_, body, message) => {
    expectError(await post('', body), 400, message)
  })

  test('answers 409 when the name or the id is taken, also to the second of two at once', async () => {
    const name = freshName()
    const answers = await Promise.all([post('', { name }), post('', { name })])
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 409])
    expectError(
      answers.find((answer) => answer.status === 409)!,
      409,
      'already exists',
    )
    const id = answers.find((answer) => answer.status === 201)!.body['id']
    expectError(await post('', { name: freshName(), id }), 409, 'already exists')
  })

  test('of the same name works in another project, and neither sees the other', async () => {
    const { body } = await post('', { name: 'shared' })
    const otherKey = await service.service.createKey('other')
    const headers = { 'x-api-key': otherKey, 'content-type': 'application/json' }
    const init = { headers, body: JSON.stringify({ name: 'shared' }) }
    expect((await service.call('POST', '/projects/other/tables', init)).status).toBe(201)
    const foreign = await answerOf(
      await service.call('GET', `/projects/other/tables/${String(body['id'])}/schema`, { headers }),
    )
    expectError(foreign, 404, 'there is no table')
  })
})

describe('listing tables', () => {
  test('answers all tables of the project, oldest first', async () => {
    const old = await post('', { name: freshName(), created_at: '2001-01-01T00:00:00.000Z' })
    const response = await service.call('GET', '/projects/acme/tables')
    expect(response.status).toBe(200)
    const tables = (await response.json()) as Body[]
    expect(tables[0]).toEqual(old.body)
    const times = tables.map((table) => Date.parse(String(table['created_at'])))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('answers each once, also where several pages of them are of one time', async () => {
    const made: string[] = []
    for (let at = 0; at < 50; at++) {
      const { body } = await post('', { name: freshName(), created_at: `2002-01-0${1 + (at % 2)}T00:00:00Z` })
      made.push(String(body['id']))
    }
    const tables = (await (await service.call('GET', '/projects/acme/tables')).json()) as Body[]
    const ids = tables.map((table) => String(table['id']))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(made))
    const times = tables.map((table) => Date.parse(String(table['created_at'])))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('is no way to take all the memory there is: settings have at most 256 KiB', async () => {
    const settings = { type: 'reconcile', note: 'x'.repeat(256 * 1024) }
    expectError(await post('', { name: freshName(), settings }), 413, 'the settings of a table')
    settings.note = 'x'.repeat(200 * 1024)
    expect((await post('', { name: freshName(), settings })).status).toBe(201)
  })

  test('is sent in pieces of a megabyte: a reader that does not read keeps one, not all', async () => {
    const settings = { type: 'reconcile', note: 'x'.repeat(250 * 1024) }
    for (let count = 0; count < 30; count++) await post('', { name: freshName(), settings })
    const socket = connect(service.service.port, '127.0.0.1').setEncoding('latin1')
    socket.write(
      `GET /api/projects/acme/tables HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\nConnection: close\r\n\r\n`,
    )
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    const pieces: number[] = []
    for (
      let at = answer.indexOf('\r\n\r\n') + 4;
      pieces.at(-1) !== 0;
      at = answer.indexOf('\r\n', at) + 4 + pieces.at(-1)!
    )
      pieces.push(Number.parseInt(answer.slice(at, at + 8), 16))
    expect(pieces.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(30 * 250 * 1024)
    expect(Math.max(...pieces)).toBeLessThan(1.1 * 1024 * 1024)
  })

  test('answers 401 without a key, and for a project that is not there', async () => {
    expectError(
      await answerOf(await service.call('GET', '/projects/acme/tables', { headers: { 'x-api-key': '' } })),
      401,
      /key/i,
    )
    expectError(await answerOf(await service.call('GET', '/projects/nowhere/tables')), 401, 'no project')
  })
})

describe('the schema of a table', () => {
  test('is the one given in settings.schema, completed', async () => {
    const schema = {
      name: 'Invoice',
      fields: { total: { type: 'number' }, vendor: 7 },
      description: 'What we owe',
      order: ['vendor', 'total'],
    }
    const id = await create('reconcile', { schema })
    expect(await get(`/${id}/schema`)).toEqual({ status: 200, body: { schema: { ...schema, id } } })
    const bare = await create('extraction', { schema: { fields: { a: {}, b: {} } } })
    const { body } = await get(`/${bare}/schema`)
    expect(body['schema']).toMatchObject({ id: bare, description: '', order: ['a', 'b'] })
  })

  test('is inferred from forwarded rows, in the order fields were first seen', async () => {
    const id = await create('reconcile')
    await forward(id, [
      { vendor: 'Acme', total: null },
      { total: 12.5, day: '2026-01-31', paid: true },
    ])
    await forward(id, [{ tags: ['x'], total: 'unknown', at: { lat: 1 }, note: '' }])
    const { body } = await get(`/${id}/schema`)
    expect(body['schema']).toMatchObject({
      fields: {
        vendor: { type: 'string' },
        total: { type: 'string' },
        day: { type: 'date' },
        paid: { type: 'boolean' },
        tags: { type: 'array' },
        at: { type: 'object' },
        note: { type: 'string' },
      },
      order: ['vendor', 'total', 'day', 'paid', 'tags', 'at', 'note'],
    })
  })

  test('of a table with no rows is empty, and bears the name of the table', async () => {
    const { body: table } = await post('', { name: 'bare' })
    expect((await get(`/${String(table['id'])}/schema`)).body).toEqual({
      schema: { name: 'bare', fields: {}, id: table['id'], description: '', order: [] },
    })
  })

  test.each([randomUUID(), 'nonsense'])('of the unknown table %s answers 404', async (id) => {
    expectError(await get(`/${id}/schema`), 404, 'there is no table')
  })
})

describe('forwarding', () => {
  test('creates an asset per item and answers assets_created, asset_ids and message', async () => {
    const id = await create('reconcile')
    const { status, body } = await forward(id, [{ a: 1 }, { a: 2 }])
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['assets_created', 'asset_ids', 'message'])
    expect(body['assets_created']).toBe(2)
    expect(new Set(body['asset_ids'] as string[]).size).toBe(2)
    for (const assetId of body['asset_ids'] as string[]) expect(assetId).toMatch(uuid)
    expect(body['message']).toMatch(/^2 assets created in table/)
  })

  test('answers the ids in the order of the items, however many there are', async () => {
    const id = await create('reconcile')
    const { body } = await forward(
      id,
      Array.from({ length: 1001 }, (_, at) => ({ code: `C-${at}` })),
    )
    const ids = body['asset_ids'] as string[]
    expect(ids).toHaveLength(1001)
    const result = await post(`/${id}/reconcile`, {
      data: { code: ['C-0', 'C-500', 'C-1000'], asset_id: [null, null, null] },
    })
    expect((result.body['data'] as Body)['asset_id']).toEqual([ids[0], ids[500], ids[1000]])
  })

  test('of many rows lets uploads of its project through', async () => {
    const id = await create('reconcile')
    const state = { isDone: false }
    const forwarding = forward(
      id,
      Array.from({ length: 40_000 }, (_, at) => ({ at })),
    ).finally(() => (state.isDone = true))
    let uploads = 0
    while (!state.isDone) {
      expect((await service.put(`/meanwhile/${uploads}.txt`, 'x')).status).toBe(201)
      if (!state.isDone) uploads++
    }
    expect((await forwarding).status).toBe(201)
    // One may come ahead of the first row, and one with the last.
    expect(uploads).toBeGreaterThan(10)
  })

  test.each([
    ['no type', { data: [{ asset_name: 'a', row_data: {} }] }, /type/],
    ['another type', { type: 'rows', data: [{ asset_name: 'a', row_data: {} }] }, /type/],
    ['no data', { type: 'data' }, /data/],
    ['empty data', { type: 'data', data: [] }, /fewer than 1/],
    ['a name that is no text', { type: 'data', data: [{ asset_name: 7, row_data: {} }] }, /asset_name/],
    ['row_data that is no object', { type: 'data', data: [{ asset_name: 'a', row_data: 'x' }] }, /row_data/],
  ])('answers 400 to %s', async (_, body, message) => {
    expectError(await post(`/${await create('reconcile')}/forward`, body), 400, message)
  })

  test('with one bad item creates none', async () => {
    const id = await create('reconcile')
    const data = [{ asset_name: 'good', row_data: { code: 'A-1' } }, { asset_name: 'bad' }]
    expectError(await post(`/${id}/forward`, { type: 'data', data }), 400, /data\/1/)
    const { body } = await post(`/${id}/reconcile`, { data: { code: 'A-1' } })
    expect(body['reasoning']).toContain('the table has no assets')
  })

  test.each(['extraction', 'storage'])('into a table of kind %s answers 400', async (kind) => {
    expectError(await forward(await create(kind), [{ a: 1 }]), 400, 'needs type Reconcile')
  })

  test('items without asset_name, or with an empty one, names them by their number in the table', async () => {
    const table = await create('reconcile')
    const rows = [
      { row_data: { nr: 'a' } },
      { asset_name: 'mine', row_data: { nr: 'b' } },
      { asset_name: '', row_data: { nr: 'c' } },
    ]
    expect((await post(`/${table}/forward`, { type: 'data', data: rows })).status).toBe(201)
    await post(`/${table}/forward`, { type: 'data', data: [{ row_data: { nr: 'd' } }] })
    const { body } = await post(`/${table}/reconcile`, { data: { nr: ['a', 'b', 'c', 'd'] } })
    for (const name of ['row 1', 'mine', 'row 3', 'row 4']) expect(JSON.stringify(body)).toContain(name)
  })

  test.each(['9007199254740993', '-123456789012345678901', '1e400', `1${'0'.repeat(500)}`])(
    'the number %s is refused: it would be kept as another',
    async (number) => {
      const id = await create('reconcile')
      const body = `{"type":"data","data":[{"row_data":{"account":${number}}}]}`
      expect(
        await errorOf(
          await service.call('POST', `/projects/acme/tables/${id}/forward`, {
            body,
            headers: { 'content-type': 'application/json' },
          }),
        ),
      ).toEqual({
        status: 400,
        message: `the number ${number.slice(0, 40)} would not be kept as it is: send it as text`,
      })
    },
  )

  test.each([
    ['bytes that are no UTF-8', Buffer.from([0xff])],
    ['an overlong form', Buffer.from([0xc0, 0x80])],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['half a surrogate pair', Buffer.from(String.raw`\ud800`)],
    ['two halves the wrong way round', Buffer.from(String.raw`\udE00\uD83D`)],
  ])('%s in a text or a name is refused: it would be kept as another', async (_, text) => {
    const id = await create('reconcile')
    const send = (path: string, ...parts: (string | Buffer)[]): Promise<Response> =>
      service.call('POST', `/projects/acme/tables${path}`, {
        body: Buffer.concat(parts.map((part) => Buffer.from(part as string))),
        headers: { 'content-type': 'application/json' },
      })
    const rows = '{"type":"data","data":[{"row_data":{"'
    for (const refused of [
      await send('', '{"name":"', text, '"}'),
      await send(`/${id}/forward`, rows, text, '":1}}]}'),
      await send(`/${id}/forward`, rows, 'a":["', text, '"]}}]}'),
    ])
      expect((await errorOf(refused)).status).toBe(400)
    const kept = String.raw`\ud83d\ude00 \\ud800`
    const made = (await (await send('', '{"name":"', kept, text.length.toString(), _, '"}')).json()) as object
    expect(made).toMatchObject({ name: expect.stringContaining(String.raw`😀 \ud800`) })
  })

  test.each([
    '9007199254740992',
    '100000000000000000000',
    '0.10000000000000000555',
    '1e-400',
    '"9007199254740993"',
    '1e22',
  ])('the number %s is taken', async (number) => {
    const id = await create('reconcile')
    const body = `{"type":"data","data":[{"row_data":{"a \\" 1e999":${number}}}]}`
    const answer = await service.call('POST', `/projects/acme/tables/${id}/forward`, {
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(201)
  })

  test('of ever more fields is refused: each forward would read and write them all', async () => {
    const id = await create('reconcile')
    const row = (from: number): Body =>
      Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`a field of its own ${from + at}`, 1]))
    const statuses: number[] = []
    for (let from = 0; from < 16_000; from += 2_000) statuses.push((await forward(id, [row(from)])).status)
    expect(statuses.slice(0, 2)).toEqual([201, 201])
    expect(statuses.at(-1)).toBe(413)
    expect((await forward(id, [row(0)])).status).toBe(201)
  })

  test('into an unknown table answers 404', async () => {
    expectError(await forward(randomUUID(), [{ a: 1 }]), 404, 'there is no table')
  })

  test('at the same time numbers every asset once', async () => {
    const id = await create('reconcile')
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => forward(id, [{ code: `K-${at}` }, { code: `L-${at}` }])),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(201))
    const code = Array.from({ length: 8 }, (_, at) => `L-${at}`)
    expect((await post(`/${id}/reconcile`, { data: { code } })).body['data']).toEqual({ code })
  })
})

describe('a storage table', () => {
  test('is created with its document: 201 with the table, the document id and a message', async () => {
    const name = freshName()
    const { status, body } = await post('/storage', {
      name,
      document: { ...documentOf('a,b\n1,2\n', 'text/csv'), filename: 'rows.csv' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      name,
      type: 'Storage',
      id: expect.stringMatching(uuid),
      created_at: expect.stringMatching(dateTime),
      settings: { type: 'storage', zero_retention_mode: false },
      assets_created: 1,
      asset_ids: [expect.stringMatching(uuid)],
      message: 'rows.csv stored',
    })
    const tables = (await (await service.call('GET', '/projects/acme/tables')).json()) as Body[]
    expect(tables.find((table) => table['id'] === body['id'])).toMatchObject({ name, type: 'Storage' })
  })

  test('under zero retention says so, and its content cannot be read again', async () => {
    const content = `code\n${randomUUID()}\n`
    const { body } = await post('/storage', {
      name: freshName(),
      document: { ...documentOf(content, 'text/csv'), filename: 'secret.csv', zero_retention_mode: true },
    })
    expect(body).toMatchObject({
      settings: { zero_retention_mode: true },
      message: 'secret.csv received; its content is not kept',
    })
    const id = (body['asset_ids'] as string[])[0]
    const result = await post(`/${await create('reconcile')}/reconcile`, { files: [{ id }] })
    expect(result.body).toMatchObject({
      status: 'error',
      reasoning: 'Not reconciled: secret.csv was stored with zero retention: its content is not kept.',
    })
  })

  test('takes a document given by uri, and one in parts', async () => {
    await service.put('/source.csv', 'code\nU-1\n', 'text/csv')
    const { url } = (await (await service.get('/source.csv')).json()) as { url: string }
    const byUri = await store('', 'text/csv', { file_type: 'uri', file: url, filename: 'by-uri.csv' })
    await service.delete('/source.csv')
    const table = await create('reconcile')
    await forward(table, [{ code: 'U-1' }])
    const result = await post(`/${table}/reconcile`, { files: [{ id: byUri }] })
    expect(result.body['data']).toEqual({ 'by-uri.csv': [{ code: 'U-1' }] })
    const parts = {
      mimetype: 'multipart/related',
      filename: 'p',
      file_type: 'multipart',
      file: [{ text: 'hello' }],
    }
    expect((await post('/storage', { name: freshName(), document: parts })).status).toBe(201)
  })

  test('keeps content that a file of the project had too, when that file is deleted', async () => {
    const content = `code\nS-${names}\n`
    const id = await store(content, 'text/csv', { filename: 'shared.csv' })
    await service.put('/shared.csv', content, 'text/csv')
    await service.delete('/shared.csv')
    const result = await post(`/${await create('reconcile')}/reconcile`, { files: [{ id }] })
    expect(result.body).toMatchObject({ status: 'done' })
  })

  test.each([
    ['no name', { document: documentOf('x') }, /name/],
    ['no document', { name: 'x' }, /document/],
    ['a mimetype that is not in the list', { name: 'x', document: documentOf('x', 'text/html') }, /mimetype/],
    ['content that is not base64', { name: 'x', document: { ...documentOf('x'), file: '***' } }, /base64/],
    [
      'a zero_retention_mode that is no boolean',
      { name: 'x', document: { ...documentOf('x'), zero_retention_mode: 'yes' } },
      /boolean/,
    ],
  ])('answers 400 to %s', async (_, body, message) => {
    expectError(await post('/storage', body), 400, message)
  })

  test('answers 409 when the name is taken', async () => {
    const name = freshName()
    await post('', { name })
    expectError(await post('/storage', { name, document: documentOf('x') }), 409, 'already exists')
  })
})

describe('reconciling', () => {
  test('answers every field of a Reconcile result', async () => {
    const id = await create('reconcile')
    await forward(id, [{ invoice: 'INV-1', total: 12.5 }])
    const input = { data: { invoice: 'inv 1', total: '12,50 EUR' }, files: [] }
    const { status, body } = await post(`/${id}/reconcile`, input)
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'done',
      data: { invoice: 'INV-1', total: 12.5 },
      reasoning: expect.stringMatching(
        /^Matched asset "row 0" \([0-9a-f-]{36}\) by its invoice, which no other asset has\. Agree: invoice and total\.$/,
      ),
      created_at: expect.stringMatching(dateTime),
      row_id: expect.stringMatching(uuid),
      review: { comment: '', reviewed_by: '', approved: false },
      input,
    })
  })

  test.each([
    ['CSV', () => store('code;qty\nR-1;\nR-9;7\n', 'text/csv', { filename: 'f' })],
    ['CSV under a general type', () => store('code,qty\nR-1,\nR-9,7\n', 'text/plain', { filename: 'f.csv' })],
    [
      'JSON',
      () =>
        store('[{"code":"R-1","qty":null},{"code":"R-9","qty":7}]', 'application/json', { filename: 'f' }),
    ],
    [
      'XLSX',
      () =>
        store(
          xlsxOfLines([
            ['code', 'qty'],
            ['R-1', ''],
            ['R-9', 7],
          ]),
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
          { filename: 'f' },
        ),
    ],
  ])('reads the rows of a %s document', async (_, upload) => {
    const id = await create('reconcile')
    await forward(id, [{ code: 'R-1', qty: 3 }])
    const { body } = await post(`/${id}/reconcile`, { files: [{ id: await upload() }] })
    const data = body['data'] as Record<string, unknown>
    expect(Object.values(data)).toEqual([
      [
        { code: 'R-1', qty: 3 },
        { code: null, qty: null },
      ],
    ])
    expect(body['reasoning']).toContain('1 of 2 items matched')
  })

  test.each([
    [
      'a PDF',
      () => store('%PDF-1.7', 'application/pdf', { filename: 'a.pdf' }),
      'a.pdf is application/pdf: only CSV, JSON and XLSX are read into rows',
    ],
    ['broken JSON', () => store('{', 'application/json', { filename: 'b.json' }), 'b.json: not JSON'],
    [
      'an empty CSV',
      () => store('', 'text/csv', { filename: 'c.csv' }),
      'c.csv: the file has no header line',
    ],
  ])(
    'with %s ends with status error, says why, and answers null in the shape of the input',
    async (_, upload, why) => {
      const id = await create('reconcile')
      await forward(id, [{ code: 'R-1' }])
      const { status, body } = await post(`/${id}/reconcile`, {
        data: { code: ['R-1', 'R-2'] },
        files: [{ id: await upload() }],
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        status: 'error',
        data: { code: [null, null] },
        reasoning: `Not reconciled: ${why}.`,
      })
    },
  )

  test('sees what was forwarded after the last time', async () => {
    const id = await create('reconcile')
    await forward(id, [{ code: 'A-1' }])
    expect((await post(`/${id}/reconcile`, { data: { code: 'A-2' } })).body['data']).toEqual({ code: null })
    await forward(id, [{ code: 'A-2' }])
    expect((await post(`/${id}/reconcile`, { data: { code: 'A-2' } })).body['data']).toEqual({ code: 'A-2' })
  })

  test('a run over too many items is refused', async () => {
    const answer = await post(`/${await create('reconcile')}/reconcile`, {
      data: { code: Array(5001).fill('x') },
    })
    expectError(answer, 413, 'at most 5000 items')
  })

  for (const endpoint of ['reconcile', 'tasks']) {
    test.each([
      ['nothing at all', {}, 'nothing to reconcile'],
      ['empty data and no files', { data: {}, files: [] }, 'nothing to reconcile'],
      ['data that is no object', { data: [] }, /data/],
      ['a file without an id', { files: [{}] }, /id/],
      ['a file id that is no uuid', { files: [{ id: '7' }] }, /uuid/],
      ['a file nobody stored', { files: [{ id: randomUUID() }] }, 'no storage table of this project holds'],
    ])(`through /${endpoint} answers 400 to %s`, async (_, body, message) => {
      expectError(await post(`/${await create('reconcile')}/${endpoint}`, body), 400, message)
    })

    test.each(['extraction', 'storage'])(
      `through /${endpoint} answers 400 for a table of kind %s`,
      async (kind) => {
        expectError(
          await post(`/${await create(kind)}/${endpoint}`, { data: { a: 1 } }),
          400,
          'needs type Reconcile',
        )
      },
    )

    test(`through /${endpoint} answers 404 for an unknown table`, async () => {
      expectError(await post(`/${randomUUID()}/${endpoint}`, { data: { a: 1 } }), 404, 'there is no table')
    })
  }
})

describe('a task', () => {
  test('answers 201 with its id and nothing else', async () => {
    const id = await create('reconcile')
    const { status, body } = await post(`/${id}/tasks`, { data: { code: 'A-1' } })
    expect({ status, body }).toEqual({ status: 201, body: { task_id: expect.stringMatching(uuid) } })
  })
})
