// Files with holes: of any length, and only as much trouble as was written.

import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import { systemDisk, type Disk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

const mebibyte = 1024 ** 2
/** Hours to read, and every disk can be told to have a file of it. */
const endless = 4 * 1024 ** 4

let temporary: TemporaryFolder
let service: TestService
let client: Client
let fileSystem: FileSystem | undefined
let calls: Calls
/** Files of the spool that were opened to be read through. */
let streamed: string[]

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  service = await startTestService()
  client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  streamed = []
})

afterEach(async () => {
  await fileSystem?.close()
  fileSystem = undefined
  await client.close()
  await service.close()
  await temporary.remove()
})

const stateDir = (): string => join(temporary.path, 'state')

async function start(): Promise<FileSystem> {
  const disk: Disk = {
    ...systemDisk,
    open: (path, flags, mode) => {
      if (flags === 'r' && path.startsWith(`${stateDir()}/spool/`)) streamed.push(path)
      return systemDisk.open(path, flags, mode)
    },
  }
  fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir: stateDir(),
    cacheDir: join(temporary.path, 'cache'),
    closeWaitMs: 200,
    world: { ...realWorld(), disk },
  })
  calls = objectDoor(fileSystem)
  return fileSystem
}

describe('what an ended daemon left open', () => {
  it('is kept without being read, and the drive is there', async () => {
    await mkdir(join(stateDir(), 'spool'), { recursive: true, mode: 0o700 })
    const left = join(stateDir(), 'spool', 'image-5f0c5a1e-5f0c-4a1e-8f0c-5f0c5a1e5f0c')
    writeFileSync(left, 'written')
    truncateSync(left, endless)
    const { lost } = (await start()).status()
    expect(lost).toMatchObject([{ name: 'image', bytes: endless }])
    expect([readdirSync(join(stateDir(), 'spool')), streamed]).toEqual([[], []])
  })
})

describe('a file that grows far past its end', () => {
  it.each<[string, (path: string) => Promise<void>]>([
    ['is written', (path) => written(path, endless)],
    ['is truncated', (path) => calls.truncate(path, endless)],
  ])('is EFBIG where no disk here could hold it: %s', async (_, grow) => {
    await start()
    await calls.writeFile('/image.txt', 'a few bytes')
    await expect(grow('/image.txt')).rejects.toMatchObject({ code: 'EFBIG' })
    expect((await calls.stat('/image.txt')).size).toBe(11)
  })

  it('is EFBIG where the service was found to refuse so much, until it takes as much', async () => {
    const drive = await start()
    service.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', path: '/large.txt' })
    await calls.writeFile('/large.txt', Buffer.alloc(mebibyte, 'large')).catch(() => {})
    await waitUntil('refused', () => drive.status().unsent[0]?.state === 'refused')
    await calls.writeFile('/image.txt', 'a few bytes')
    await expect(calls.truncate('/image.txt', 20 * mebibyte)).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(written('/image.txt', 20 * mebibyte)).rejects.toMatchObject({ code: 'EFBIG' })
    service.service.faults.clear()
    await calls.writeFile('/large.txt', Buffer.alloc(2 * mebibyte, 'larger'))
    await drive.drain({ timeoutMs: 20_000 })
    await calls.truncate('/image.txt', 20 * mebibyte)
    expect((await calls.stat('/image.txt')).size).toBe(20 * mebibyte)
  })
})

it('a file that is mostly holes is closed without being read, and arrives', async () => {
  const drive = await start()
  await service.stop()
  await written('/image.txt', 70 * mebibyte)
  expect(streamed).toEqual([])
  await service.start()
  drive.retry('/')
  await drive.drain({ timeoutMs: 60_000 })
  const expected = Buffer.concat([Buffer.alloc(70 * mebibyte), Buffer.from('the end')])
  expect((await service.other.bytes('/image.txt')).equals(expected)).toBe(true)
})

async function written(path: string, position: number): Promise<void> {
  const file = await calls.open(path, 'a+').then(async (made) => {
    await made.close()
    return calls.open(path, 'r+')
  })
  try {
    await file.write('the end', position)
  } finally {
    await file.close()
  }
}
