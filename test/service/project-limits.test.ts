// Limits of one project beside those of all.

import { InvalidArgumentError } from 'commander'
import { afterEach, describe, expect, test } from 'vitest'
import { addLimit, mergeLimits } from '../../src/cli/limits-option.ts'
import { type TestService, documentOf, errorOf, startTestService } from './support.ts'

let service: TestService
afterEach(() => service?.close())

describe('a limit of one project', () => {
  const put = async (project: string, path: string, size = 10): Promise<Response> =>
    service.call('PUT', `/projects/${project}/files?path=${encodeURIComponent(path)}`, {
      body: JSON.stringify(documentOf('x'.repeat(size))),
      headers: { 'content-type': 'application/json', 'x-api-key': await service.service.createKey(project) },
    })

  test('holds for its documents, tables and runs, in place of the one of all; others have theirs', async () => {
    const limits = {
      projectDocuments: 2,
      documentBytes: 100,
      ofProjects: { large: { projectDocuments: 0, documentBytes: 0 }, small: { projectBytes: 500 } },
    }
    service = await startTestService({ projects: ['acme', 'large', 'small'], limits })
    const statuses = async (project: string, size = 10): Promise<number[]> => {
      const answers = []
      for (let at = 0; at < 3; at++) answers.push((await put(project, `/${at}.txt`, size)).status)
      return answers
    }
    expect(await statuses('acme')).toEqual([201, 201, 507])
    expect((await put('acme', '/large.txt', 101)).status).toBe(507)
    expect(await statuses('large', 1_000)).toEqual([201, 201, 201])
    expect((await put('small', '/0.txt', 101)).status).toBe(413)
    const key = await service.service.createKey('small')
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const ask = (path: string, body: object): Promise<Response> =>
      service.call('POST', `/projects/small/tables${path}`, { body: JSON.stringify(body), headers })
    const made = await ask('', { name: 't', settings: { type: 'reconcile' } })
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    const rows = Array.from({ length: 20 }, (_, nr) => ({ row_data: { nr } }))
    const refused = await errorOf(await ask(`/${id}/forward`, { type: 'data', data: rows }))
    expect(refused.status).toBe(507)
    expect((await ask(`/${id}/forward`, { type: 'data', data: rows.slice(0, 1) })).status).toBe(201)
    const run = await ask(`/${id}/reconcile`, { data: { nr: Array.from({ length: 200 }, (_, nr) => nr) } })
    expect(run.status).toBe(507)
  })

  test('tells a document beyond it so where another one stands, which no delete would help', async () => {
    service = await startTestService({
      projects: ['acme', 'small'],
      limits: { ofProjects: { small: { documentBytes: 50_000 } } },
    })
    expect((await put('small', '/a.txt')).status).toBe(201)
    expect((await put('small', '/a.txt', 100_000)).status).toBe(413)
    expect((await put('acme', '/a.txt')).status).toBe(201)
    expect((await put('acme', '/a.txt', 100_000)).status).toBe(409)
  })

  test('is written with the name of the project, and stands beside those from variables', () => {
    const one = addLimit('project@acme=10GB', addLimit('document=1MB'))
    expect(one).toEqual({ documentBytes: 1e6, ofProjects: { acme: { projectBytes: 1e10 } } })
    expect(addLimit('project-documents@acme=none', one).ofProjects).toEqual({
      acme: { projectBytes: 1e10, projectDocuments: 0 },
    })
    expect(mergeLimits(one, addLimit('project@other=1GB')).ofProjects).toEqual({
      acme: { projectBytes: 1e10 },
      other: { projectBytes: 1e9 },
    })
    expect(() => addLimit('connections@acme=1')).toThrow(InvalidArgumentError)
    expect(() => addLimit('connections@acme=1')).toThrow(/these are: document, project, project-documents/)
  })
})
