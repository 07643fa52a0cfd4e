// Helpers of the service's tests: a service in a folder of its own, and requests as any HTTP client would send them.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceOptions } from '../../src/service/index.ts'
import { type FaultyService, startFaultyService } from '../support/faults/faulty-service.ts'
import { storeOf } from '../support/store.ts'

export interface TestService {
  readonly service: FaultyService
  readonly dataDir: string
  readonly key: string
  /** `path` below `/api`; the key of `acme` unless `headers` say otherwise. */
  call(method: string, path: string, init?: RequestInit): Promise<Response>
  /** PUT of a binary document. */
  put(path: string, content: Uint8Array | string, mimetype?: string): Promise<Response>
  get(path: string): Promise<Response>
  delete(path: string): Promise<Response>
  close(): Promise<void>
}

export const files = (path: string): string => `/projects/acme/files?path=${encodeURIComponent(path)}`

export function documentOf(content: Uint8Array | string, mimetype = 'text/plain'): object {
  const file = Buffer.from(content as string).toString('base64')
  return { mimetype, filename: 'a', file_type: 'binary', file }
}

/** A service with the project `acme`. Close it, and its folder goes too. */
export async function startTestService(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'docmount-service-')))
  const removeFolder = async (): Promise<void> => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
  }
  const service = await startFaultyService({
    projects: ['acme'],
    ...(await storeOf(dataDir)),
    ...options,
    dataDir,
  }).catch(async (error: unknown) => {
    await removeFolder()
    throw error
  })
  const key = service.projects[0]?.apiKey ?? (await service.createKey('acme'))
  const call: TestService['call'] = (method, path, init = {}) =>
    fetch(`${service.baseUrl}${path}`, {
      method,
      ...init,
      headers: { 'x-api-key': key, ...(init.headers as Record<string, string>) },
    })
  return {
    service,
    dataDir,
    key,
    call,
    put: (path, content, mimetype) =>
      call('PUT', files(path), {
        body: JSON.stringify(documentOf(content, mimetype)),
        headers: { 'content-type': 'application/json' },
      }),
    get: (path) => call('GET', files(path)),
    delete: (path) => call('DELETE', files(path)),
    close: async () => {
      await service.close()
      await removeFolder()
    },
  }
}

/** The status and message of an answer that must be an error in the one shape there is. */
export async function errorOf(response: Response): Promise<{ status: number; message: string }> {
  const body = (await response.json()) as Record<string, unknown>
  if (response.status < 400 || typeof body['errorMessage'] !== 'string' || Object.keys(body).length !== 1) {
    throw new Error(`not an error: ${response.status} ${JSON.stringify(body)}`)
  }
  return { status: response.status, message: body['errorMessage'] }
}
