// Notices: news of a drive for a person who asked nothing, each told once, when it is true.

import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { Notice } from '../../src/fs/notice.ts'
import type { FileSystemStatus } from '../../src/fs/status.ts'
import { objectDoor } from '../support/object-door.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

interface Drive {
  readonly service: TestService
  readonly notices: Notice[]
  readonly calls: ReturnType<typeof objectDoor>
  retry(this: void): void
  status(this: void): FileSystemStatus
  /** Resolves when it was told. */
  told(this: void, kind: Notice['kind'], times?: number): Promise<void>
  end(this: void): Promise<void>
}

async function openDrive(): Promise<Drive> {
  const temporary = await makeTemporaryFolder()
  undo.push(() => temporary.remove())
  const service = await startTestService()
  undo.push(() => service.close())
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  undo.push(() => client.close())
  const notices: Notice[] = []
  const fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir: `${temporary.path}/state`,
    cacheDir: `${temporary.path}/cache`,
    closeWaitMs: 0,
    onNotice: (notice) => notices.push(notice),
  })
  undo.push(() => fileSystem.close())
  return {
    service,
    notices,
    calls: objectDoor(fileSystem),
    retry: () => void fileSystem.retry('/'),
    status: () => fileSystem.status(),
    async told(kind, times = 1) {
      await waitUntil(
        `${kind}, ${times} times`,
        () => notices.filter((notice) => notice.kind === kind).length >= times,
      )
    },
    end: () => fileSystem.close(),
  }
}

describe('what a person hears of', () => {
  it('the service away, back, and that all that waited has arrived', async () => {
    const { service, notices, calls, retry, told } = await openDrive()
    await service.stop()
    await calls.writeFile('/a.txt', 'a')
    await calls.writeFile('/b.txt', 'b')
    await told('away')
    await service.start()
    retry()
    await told('done')
    expect(notices.map(({ kind }) => kind)).toEqual(['away', 'back', 'done'])
    expect(await service.other.get('/a.txt')).toBeDefined()
    expect(await service.other.get('/b.txt')).toBeDefined()
  })

  it('the service away: once, also where the drive ends before it is back', async () => {
    const { service, notices, calls, told, end } = await openDrive()
    await service.stop()
    await calls.writeFile('/a.txt', 'a')
    await told('away')
    await end()
    expect(notices.map(({ kind }) => kind)).toEqual(['away'])
  })

  it('a key that is refused: once, until it is taken again', async () => {
    const { service, notices, calls, retry, told, status } = await openDrive()
    expect(status().keyRefusal).toBeUndefined()
    const takeBack = service.service.faults.inject({ kind: 'status', status: 401 })
    await calls.writeFile('/a.txt', 'a')
    await calls.writeFile('/b.txt', 'b')
    await told('keyRefused')
    expect(status().keyRefusal).toContain('401')
    retry()
    takeBack()
    retry()
    await waitUntil('both to arrive', async () => {
      const both = [await service.other.get('/a.txt'), await service.other.get('/b.txt')]
      return both.every((node) => node !== undefined)
    })
    expect(status().keyRefusal).toBeUndefined()
    expect(notices.map(({ kind }) => kind)).toEqual(['keyRefused'])
    service.service.faults.inject({ kind: 'status', status: 401 }, { times: 3 })
    await calls.writeFile('/c.txt', 'c')
    await told('keyRefused', 2)
  })
})
