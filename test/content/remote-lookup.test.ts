// The state of a path, where something comes there between two questions.

import { afterEach, beforeEach, expect, it } from 'vitest'

import { createClient, type Client } from '../../src/api/client.ts'
import type { CallOptions, Files } from '../../src/api/types.ts'
import { lookUp } from '../../src/content/remote-lookup.ts'
import { project, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let client: Client
let files: Files

beforeEach(async () => {
  service = await startTestService()
  client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  files = client.files(project)
})

afterEach(async () => {
  await client.close()
  await service.close()
})

/** The same, but that a document is stored right before the root is listed. */
function storingBeforeRoot(path: string): Files {
  const get = async (at: string, options?: CallOptions): ReturnType<Files['get']> => {
    if (at === '/') await service.other.put(path, 'new')
    return files.get(at, options)
  }
  return { ...files, project, get }
}

it('nothing is in a folder that was made anew meanwhile with another document', async () => {
  expect(await lookUp(storingBeforeRoot('/d/new.txt'), '/d/x.txt')).toBeUndefined()
  expect(await lookUp(storingBeforeRoot('/e/new.txt'), '/e/f/x.txt')).toBeUndefined()
})

it('a document that has just come is there', async () => {
  expect(await lookUp(storingBeforeRoot('/x.txt'), '/x.txt')).toMatchObject({ kind: 'file', size: 3 })
})

it('a listing that lags behind is no answer', async () => {
  await service.other.put('/x.txt', 'x')
  service.service.faults.inject({ kind: 'status', status: 404 }, { path: '/x.txt' })
  await expect(lookUp(files, '/x.txt')).rejects.toMatchObject({ code: 'EIO' })
})
