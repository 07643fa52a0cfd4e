// The service describes itself at /api/openapi.json. Every answer it gives here is held against that description.

import { randomUUID } from 'node:crypto'
import { Check } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inFull } from '../contract/witness.ts'
import { type OpenApi, expectHeaders } from './openapi-document.ts'
import { type TestService, documentOf, files, startTestService } from './support.ts'

let service: TestService
let raw: OpenApi
/** With every reference replaced by what it refers to. */
let document: OpenApi

beforeAll(async () => {
  service = await startTestService()
  raw = (await (await service.call('GET', '/openapi.json')).json()) as OpenApi
  document = inFull(raw, raw) as OpenApi
})
afterAll(() => service.close())

const project = '/api/projects/{project_name}'
const endpoints = [
  ['get', '/api/projects'],
  ['put', `${project}/files`],
  ['get', `${project}/files`],
  ['delete', `${project}/files`],
  ['get', `${project}/tables`],
  ['post', `${project}/tables`],
  ['post', `${project}/tables/storage`],
  ['get', `${project}/tables/{table_id}/schema`],
  ['post', `${project}/tables/{table_id}/reconcile`],
  ['post', `${project}/tables/{table_id}/tasks`],
  ['post', `${project}/tables/{table_id}/forward`],
] as const

describe('the OpenAPI document', () => {
  test('is OpenAPI 3.1 of interface version 1.0.11, with the key in X-API-Key', () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    expect(document.info.version).toBe('1.0.11')
    expect(document.components.securitySchemes).toEqual({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    })
    expect(document.security).toEqual([{ apiKey: [] }])
  })

  test('says where it is served, and gives every operation a name of its own', () => {
    expect(document.servers).toEqual([{ url: '/' }])
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test.each(endpoints)('describes %s %s: parameters, body, answers and errors', (method, path) => {
    const operation = document.paths[path]?.[method]
    expect(operation?.summary).toMatch(/\w/)
    const inPath = (operation?.parameters ?? []).filter((parameter) => parameter.in === 'path')
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    for (const parameter of inPath) expect(parameter.required).toBe(true)
    expect(operation?.requestBody !== undefined).toBe(method === 'post' || method === 'put')
    const responses = Object.entries(operation?.responses ?? {})
    expect(responses.some(([status]) => status.startsWith('2'))).toBe(true)
    for (const [status, { description, content }] of responses) {
      expect(typeof description).toBe('string')
      if (!/^[45]/.test(status)) continue
      expect(content?.['application/json']?.schema).toMatchObject({ required: ['errorMessage'] })
    }
  })

  test('names the schemas of the interface, each once', () => {
    expect(Object.keys(raw.components.schemas as object)).toEqual(
      expect.arrayContaining([
        'Error',
        'Project',
        'File',
        'Folder',
        'Document',
        'Table',
        'ReconcileInput',
        'ReconcileResult',
      ]),
    )
    expect(JSON.stringify(raw.paths)).not.toContain('"title"')
  })

  test('refers only to what it holds', () => {
    expect(JSON.stringify(document)).not.toContain('$ref')
    expect(() => inFull({ $ref: '#/components/schemas/Nothing' }, raw)).toThrow(TypeError)
  })
})

interface Call {
  readonly title: string
  readonly method: string
  /** As in the document. */
  readonly endpoint: string
  /** Below `/api`. */
  readonly path: () => string
  readonly body?: () => unknown
  readonly status: number
  readonly key?: string
}

const table = '/projects/acme/tables'
let reconcileTable = ''
let extractionTable = ''
let stored = ''

async function made(path: string, body: unknown): Promise<Record<string, unknown>> {
  const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return (await (await service.call('POST', path, init)).json()) as Record<string, unknown>
}

describe('every answer is as described', () => {
  beforeAll(async () => {
    reconcileTable = String((await made(table, { name: 'r', settings: { type: 'reconcile' } }))['id'])
    extractionTable = String((await made(table, { name: 'e' }))['id'])
    const answer = await made(`${table}/storage`, {
      name: 's',
      document: { ...documentOf('a\n1\n', 'text/csv'), filename: 'a.csv' },
    })
    stored = (answer['asset_ids'] as string[])[0]!
    await service.put('/folder/taken.txt', 'x')
  })

  const files_ = `${project}/files`
  const tables = `${project}/tables`
  const schema = `${tables}/{table_id}/schema`
  const rows = { type: 'data', data: [{ asset_name: 'a', row_data: { a: '1' } }] }
  const cases: readonly Call[] = [
    { title: 'projects', method: 'GET', endpoint: '/api/projects', path: () => '/projects', status: 200 },
    {
      title: 'a wrong key',
      method: 'GET',
      endpoint: '/api/projects',
      path: () => '/projects',
      status: 401,
      key: 'wrong',
    },
    {
      title: 'an upload',
      method: 'PUT',
      endpoint: files_,
      path: () => files('/new.txt'),
      body: () => documentOf('x'),
      status: 201,
    },
    {
      title: 'a bad upload',
      method: 'PUT',
      endpoint: files_,
      path: () => files('/bad.txt'),
      body: () => ({}),
      status: 400,
    },
    {
      title: 'an upload to a taken path',
      method: 'PUT',
      endpoint: files_,
      path: () => files('/folder/taken.txt'),
      body: () => documentOf('x'),
      status: 409,
    },
    { title: 'a file', method: 'GET', endpoint: files_, path: () => files('/folder/taken.txt'), status: 200 },
    { title: 'a folder', method: 'GET', endpoint: files_, path: () => files('/folder'), status: 200 },
    { title: 'the root', method: 'GET', endpoint: files_, path: () => files('/'), status: 200 },
    { title: 'nothing', method: 'GET', endpoint: files_, path: () => files('/none'), status: 404 },
    { title: 'the root deleted', method: 'DELETE', endpoint: files_, path: () => files('/'), status: 400 },
    { title: 'nothing deleted', method: 'DELETE', endpoint: files_, path: () => files('/none'), status: 404 },
    {
      title: 'a file deleted',
      method: 'DELETE',
      endpoint: files_,
      path: () => files('/folder/taken.txt'),
      status: 204,
    },
    { title: 'tables', method: 'GET', endpoint: tables, path: () => table, status: 200 },
    {
      title: 'a new table',
      method: 'POST',
      endpoint: tables,
      path: () => table,
      body: () => ({ name: 'n' }),
      status: 201,
    },
    {
      title: 'a taken name',
      method: 'POST',
      endpoint: tables,
      path: () => table,
      body: () => ({ name: 'r' }),
      status: 409,
    },
    {
      title: 'a bad table',
      method: 'POST',
      endpoint: tables,
      path: () => table,
      body: () => ({ name: 7 }),
      status: 400,
    },
    {
      title: 'a stored document',
      method: 'POST',
      endpoint: `${tables}/storage`,
      path: () => `${table}/storage`,
      body: () => ({ name: 't', document: documentOf('x') }),
      status: 201,
    },
    {
      title: 'a bad document',
      method: 'POST',
      endpoint: `${tables}/storage`,
      path: () => `${table}/storage`,
      body: () => ({ name: 'u' }),
      status: 400,
    },
    {
      title: 'a schema',
      method: 'GET',
      endpoint: schema,
      path: () => `${table}/${reconcileTable}/schema`,
      status: 200,
    },
    {
      title: 'no schema',
      method: 'GET',
      endpoint: schema,
      path: () => `${table}/${randomUUID()}/schema`,
      status: 404,
    },
    {
      title: 'rows',
      method: 'POST',
      endpoint: `${tables}/{table_id}/forward`,
      path: () => `${table}/${reconcileTable}/forward`,
      body: () => rows,
      status: 201,
    },
    {
      title: 'rows for the wrong kind',
      method: 'POST',
      endpoint: `${tables}/{table_id}/forward`,
      path: () => `${table}/${extractionTable}/forward`,
      body: () => rows,
      status: 400,
    },
    {
      title: 'a run',
      method: 'POST',
      endpoint: `${tables}/{table_id}/reconcile`,
      path: () => `${table}/${reconcileTable}/reconcile`,
      body: () => ({ data: { a: ['1'] }, files: [{ id: stored }] }),
      status: 200,
    },
    {
      title: 'an empty run',
      method: 'POST',
      endpoint: `${tables}/{table_id}/reconcile`,
      path: () => `${table}/${reconcileTable}/reconcile`,
      body: () => ({}),
      status: 400,
    },
    {
      title: 'a task',
      method: 'POST',
      endpoint: `${tables}/{table_id}/tasks`,
      path: () => `${table}/${reconcileTable}/tasks`,
      body: () => ({ data: { a: 1 } }),
      status: 201,
    },
    {
      title: 'a task nowhere',
      method: 'POST',
      endpoint: `${tables}/{table_id}/tasks`,
      path: () => `${table}/${randomUUID()}/tasks`,
      body: () => ({ data: { a: 1 } }),
      status: 404,
    },
  ]

  test.each(cases)(
    '$title: $status of $method $endpoint',
    async ({ method, endpoint, path, body, status, key }) => {
      const init = {
        ...(body === undefined ? {} : { body: JSON.stringify(body()) }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          'x-api-key': key ?? service.key,
        },
      }
      const response = await service.call(method, path(), init)
      const text = await response.text()
      expect(response.status, text).toBe(status)
      const described = document.paths[endpoint]?.[method.toLowerCase()]?.responses[String(status)]
      expect(described, `${status} is not described`).toBeDefined()
      expectHeaders(response.headers, described?.headers ?? {})
      if (status === 204) return expect(text).toBe('')
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      const schemaOfAnswer = described?.content?.['application/json']?.schema
      expect(Check(schemaOfAnswer!, JSON.parse(text)), text).toBe(true)
    },
  )

  test('an answer with a field of another type would not pass', () => {
    const described = document.paths[`${tables}/{table_id}/forward`]?.['post']?.responses['201']
    const schemaOfAnswer = described!.content!['application/json']!.schema
    expect(Check(schemaOfAnswer, { assets_created: 1, asset_ids: [randomUUID()], message: '' })).toBe(true)
    expect(Check(schemaOfAnswer, { assets_created: '1', asset_ids: [randomUUID()], message: '' })).toBe(false)
    expect(Check(schemaOfAnswer, { assets_created: 1, asset_ids: ['x'], message: '' })).toBe(false)
  })
})
