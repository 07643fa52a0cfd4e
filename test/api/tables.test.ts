import { json } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/api/errors.ts'
import type { RawRequest, RawServer } from '../support/raw-server.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { clientOf, contentOf, rejection, uploadOf } from './client-support.ts'

interface Echo {
  readonly server: RawServer
  readonly bodies: unknown[]
}

/** A service that gives one answer and keeps the bodies it got. */
async function startAnswering(status: number, answer: unknown): Promise<Echo & AsyncDisposable> {
  const bodies: unknown[] = []
  const server = await startRawServer((request, response) => {
    const body = request.method === 'POST' ? json(request) : Promise.resolve(undefined)
    void body.then((value) => {
      bodies.push(value)
      if (answer === undefined) response.writeHead(status).end()
      else answerJson(response, status, answer)
    })
  })
  return { server, bodies, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function lineOf(request: RawRequest | undefined): string {
  return `${request?.method} ${request?.url}`
}

const id = '5f0c8f9e-2d0b-4a55-9a43-0a4f1a4c2b11'
const wireTable = {
  name: 'T',
  type: 'Extraction',
  id,
  created_at: '2026-01-01T00:00:00Z',
  settings: { a: 1 },
}
const table = { name: 'T', type: 'Extraction', id, createdAt: '2026-01-01T00:00:00Z', settings: { a: 1 } }

describe('tables', () => {
  test('are listed, whatever fields they have', async () => {
    await using echo = await startAnswering(200, [wireTable, { name: 'bare' }, {}])
    await using client = clientOf(echo.server)
    const none = { type: undefined, id: undefined, createdAt: undefined, settings: undefined }
    expect(await client.tables('a b').list()).toEqual([
      table,
      { name: 'bare', ...none },
      { name: undefined, ...none },
    ])
    expect(lineOf(echo.server.requests[0])).toBe('GET /api/projects/a%20b/tables')
  })

  test('are created with all four fields of the interface', async () => {
    await using echo = await startAnswering(200, wireTable)
    await using client = clientOf(echo.server)
    expect(await client.tables('acme').create({ name: 'T' })).toEqual(table)
    const { id: madeId, createdAt, settings } = table
    await client.tables('acme').create({ name: 'T', id: madeId, createdAt, settings })
    expect(echo.bodies).toEqual([
      {
        name: 'T',
        id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        settings: {},
      },
      { name: 'T', id, created_at: '2026-01-01T00:00:00Z', settings: { a: 1 } },
    ])
  })

  test('for storage take a document, streamed as any upload', async () => {
    await using echo = await startAnswering(201, undefined)
    await using client = clientOf(echo.server)
    const document = uploadOf(contentOf([Buffer.from('stored')]))
    expect(
      await client.tables('acme').createStorage('S', { ...document, zeroRetentionMode: true }),
    ).toBeUndefined()
    expect(echo.bodies).toEqual([
      {
        name: 'S',
        document: {
          mimetype: 'text/plain',
          filename: 'a.txt',
          file_type: 'binary',
          zero_retention_mode: true,
          file: Buffer.from('stored').toString('base64'),
        },
      },
    ])
    expect(lineOf(echo.server.requests[0])).toBe('POST /api/projects/acme/tables/storage')
  })

  test('tell their schema', async () => {
    await using echo = await startAnswering(200, { schema: { name: 'T', fields: { a: {} }, order: ['a'] } })
    await using client = clientOf(echo.server)
    expect(await client.tables('acme').schema(id)).toEqual({
      name: 'T',
      fields: { a: {} },
      id: undefined,
      description: undefined,
      order: ['a'],
    })
    expect(lineOf(echo.server.requests[0])).toBe(`GET /api/projects/acme/tables/${id}/schema`)
  })

  test('reconcile data and files', async () => {
    const review = { comment: 'c', reviewed_by: 'r', review_date: 'd', approved: true }
    await using echo = await startAnswering(200, {
      data: { a: [1, 2] },
      created_at: 't',
      row_id: id,
      reasoning: 'because',
      review,
      status: 'done',
      input: { data: {} },
    })
    await using client = clientOf(echo.server)
    const input = { data: { a: ['1', '2'] }, files: [{ id }] }
    expect(await client.tables('acme').reconcile(id, input)).toEqual({
      data: { a: [1, 2] },
      createdAt: 't',
      rowId: id,
      reasoning: 'because',
      review: { comment: 'c', reviewedBy: 'r', reviewDate: 'd', approved: true },
      status: 'done',
      input: { data: {} },
    })
    expect(echo.bodies).toEqual([input])
    expect(lineOf(echo.server.requests[0])).toBe(`POST /api/projects/acme/tables/${id}/reconcile`)
  })

  test('make tasks', async () => {
    await using echo = await startAnswering(200, { task_id: id })
    await using client = clientOf(echo.server)
    expect(await client.tables('acme').createTask(id, { data: { a: 1 } })).toBe(id)
    expect(lineOf(echo.server.requests[0])).toBe(`POST /api/projects/acme/tables/${id}/tasks`)
  })

  test('take rows', async () => {
    await using echo = await startAnswering(200, { assets_created: 1, asset_ids: [id], message: 'm' })
    await using client = clientOf(echo.server)
    const tables = client.tables('acme')
    expect(await tables.forward(id, [{ assetName: 'A', rowData: { x: 1 } }])).toEqual({
      assetsCreated: 1,
      assetIds: [id],
      message: 'm',
    })
    expect(echo.bodies).toEqual([{ type: 'data', data: [{ asset_name: 'A', row_data: { x: 1 } }] }])
    expect(await rejection(tables.forward(id, []))).toBeInstanceOf(InputError)
  })

  test.each([500, 503])('are never changed twice: a %i is not repeated', async (status) => {
    await using echo = await startAnswering(status, { errorMessage: 'no' })
    await using client = clientOf(echo.server)
    const tables = client.tables('acme')
    const attempts = [
      tables.create({ name: 'T' }),
      tables.createTask(id, {}),
      tables.reconcile(id, {}),
      tables.forward(id, [{ assetName: 'A', rowData: {} }]),
      tables.createStorage('S', uploadOf(contentOf([Buffer.from('x')]))),
    ]
    for (const attempt of attempts) expect(await rejection(attempt)).toMatchObject({ status })
    expect(echo.server.requests).toHaveLength(attempts.length)
  })

  test.each([
    ['assets_created is missing', { asset_ids: [], message: '' }],
    ['asset_ids: not an array', { assets_created: 0, message: '' }],
    ['message is missing', { assets_created: 0, asset_ids: [] }],
  ])('answered without a required field fail as "protocol": %s', async (detail, answer) => {
    await using echo = await startAnswering(200, answer)
    await using client = clientOf(echo.server)
    const error = await rejection(client.tables('acme').forward(id, [{ assetName: 'A', rowData: {} }]))
    expect(error).toMatchObject({ kind: 'protocol' })
    expect(String(error)).toContain(detail)
  })
})
