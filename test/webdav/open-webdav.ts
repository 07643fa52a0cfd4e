// The WebDAV door over the filesystem object in this process, the service behind it; and a client that says exactly what
// it is told to.

import { request as send, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'

import { createClient } from '../../src/api/client.ts'
import { mimetypeOfName } from '../../src/api/mimetype-of.ts'
import type { FileSystem } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import { silentLog } from '../../src/log.ts'
import { startWebdav, type WebdavOptions, type WebdavServer } from '../../src/webdav/server.ts'
import { serviceBehind, type Behind } from '../support/behind.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

export const user = 'docmount'
export const password = 'the-password'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The client's own address, of those that are this machine's. */
  readonly localAddress?: string
  /** Without user and password. */
  readonly isStranger?: boolean
}

export interface OpenedWebdav {
  readonly testService: TestService
  /** Calls that were made to the service. */
  readonly behind: Pick<Behind, 'clearCalls' | 'expectCalls'>
  readonly fileSystem: FileSystem
  readonly server: WebdavServer
  readonly port: number
  /** The path as it is sent. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>
  /** Closes the door, and opens it again over the same state. */
  reopen(options?: Partial<WebdavOptions>): Promise<void>
  close(): Promise<void>
}

export interface OpenWebdavOptions {
  readonly webdav?: Partial<WebdavOptions>
  readonly isReadOnly?: boolean
  readonly renameLimit?: number
  readonly closeWaitMs?: number
  readonly cacheTtlMs?: number
  readonly unsupportedAs?: string
  /** Documents of the service, by path. */
  readonly given?: Readonly<Record<string, string | Uint8Array>>
}

export async function openWebdav(options: OpenWebdavOptions = {}): Promise<OpenedWebdav> {
  const { isReadOnly = false, given = {}, renameLimit, closeWaitMs, cacheTtlMs, unsupportedAs } = options
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService()
  for (const [path, content] of Object.entries(given)) await testService.other.put(path, Buffer.from(content))
  const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
  const stateDir = join(temporary.path, 'state')
  const fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir,
    cacheDir: join(temporary.path, 'cache'),
    readOnly: isReadOnly,
    ...(renameLimit === undefined ? {} : { renameLimit }),
    ...(closeWaitMs === undefined ? {} : { closeWaitMs }),
    ...(cacheTtlMs === undefined ? {} : { cacheTtlMs }),
    ...(unsupportedAs === undefined ? {} : { unsupportedAs }),
  })
  const start = (more: Partial<WebdavOptions>): Promise<WebdavServer> =>
    startWebdav(fileSystem, {
      host: '127.0.0.1',
      port: 0,
      user,
      password,
      hostNames: [],
      propertiesFile: join(stateDir, 'webdav-properties'),
      isReadOnly,
      contentTypeOf: mimetypeOfName,
      log: silentLog,
      ...more,
    })
  let server = await start(options.webdav ?? {})
  const port = (): number => Number(new URL(server.url).port)
  return {
    testService,
    behind: serviceBehind(testService, () => {
      throw new Error('this door is asked in HTTP')
    }),
    fileSystem,
    get server() {
      return server
    },
    get port() {
      return port()
    },
    ask: (method, path, how) => ask(port(), method, path, how),
    async reopen(more = {}) {
      await server.close({ waitMs: 1_000 })
      server = await start({ ...options.webdav, ...more })
    },
    async close() {
      await server.close({ waitMs: 1_000 })
      await fileSystem.close()
      await client.close()
      await testService.close()
      await temporary.remove()
    },
  }
}

/** One request on a connection of its own. */
export function ask(port: number, method: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const { headers = {}, body, localAddress, isStranger = false } = options
  const credentials = Buffer.from(`${user}:${password}`).toString('base64')
  return new Promise((resolve, reject) => {
    const request = send(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: { ...(isStranger ? {} : { authorization: `Basic ${credentials}` }), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const all = Buffer.concat(chunks)
          const { statusCode = 0 } = response
          resolve({ status: statusCode, headers: response.headers, body: all, text: all.toString() })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
