import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMountOf, findMounts } from '../../src/daemon/find-mount.ts'
import {
  isAlive,
  type MountRecord,
  processStartOf,
  readMountRecords,
  removeMountRecord,
  writeMountRecord,
} from '../../src/daemon/mount-record.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeAll(async () => {
  temporary = await makeTemporaryFolder()
})
afterAll(() => temporary.remove())

async function recordOfThisProcess(id: string, mountpoint: string): Promise<MountRecord> {
  return {
    id,
    pid: process.pid,
    processStart: (await processStartOf(process.pid)) ?? '',
    startedAt: new Date().toISOString(),
    project: 'acme',
    baseUrl: 'http://127.0.0.1/api',
    mountpoint,
    driver: 'kernel',
    stateDir: '/s',
    cacheDir: '/c',
    logFile: undefined,
    socketPath: join(temporary.path, `${id}.sock`),
  }
}

test('a record is read as it was written, until it is removed', async () => {
  const record = await recordOfThisProcess('one', '/mnt/one')
  await writeMountRecord(temporary.path, record)
  expect(await readMountRecords(temporary.path)).toEqual([record])
  await removeMountRecord(temporary.path, 'one')
  expect(await readMountRecords(temporary.path)).toEqual([])
})

test('files that are no record are passed over, a missing folder holds none', async () => {
  await writeFile(join(temporary.path, 'torn.json'), '{"pid": 1')
  await writeFile(join(temporary.path, 'other.json'), 'null')
  expect(await readMountRecords(temporary.path)).toEqual([])
  expect(await readMountRecords(join(temporary.path, 'nowhere'))).toEqual([])
})

test('a record is alive while its very process runs', async () => {
  const child = spawn('sleep', ['60'])
  const pid = child.pid as number
  const processStart = (await processStartOf(pid)) as string
  expect(await isAlive({ pid, processStart })).toBe(true)
  expect(await isAlive({ pid, processStart: `${Number(processStart) + 1}` })).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await isAlive({ pid, processStart })).toBe(false)
})

test('a path is found on the innermost drive by its text alone', async () => {
  // Neither mountpoint exists: finding them by touching them would fail.
  await writeMountRecord(temporary.path, await recordOfThisProcess('outer', '/nowhere/drive'))
  await writeMountRecord(temporary.path, await recordOfThisProcess('inner', '/nowhere/drive/inner'))
  const at = async (path: string) => {
    const place = await findMountOf(path, temporary.path)
    return place && [place.found.mountpoint, place.path]
  }
  expect(await at('/nowhere/drive')).toEqual(['/nowhere/drive', '/'])
  expect(await at('/nowhere/drive/a/b.pdf')).toEqual(['/nowhere/drive', '/a/b.pdf'])
  expect(await at('/nowhere/drive/inner/../c')).toEqual(['/nowhere/drive', '/c'])
  expect(await at('/nowhere/drive/inner/d')).toEqual(['/nowhere/drive/inner', '/d'])
  expect(await at('/nowhere/drives')).toBeUndefined()
})

test('of two records of one mountpoint the living daemon counts', async () => {
  const alive = await recordOfThisProcess('b', '/nowhere/twice')
  await writeMountRecord(temporary.path, { ...alive, id: 'a', processStart: '1' })
  await writeMountRecord(temporary.path, alive)
  await writeMountRecord(temporary.path, { ...alive, id: 'c', processStart: '1' })
  const found = (await findMounts(temporary.path)).filter(({ mountpoint }) => mountpoint === '/nowhere/twice')
  expect(found).toMatchObject([{ isDaemonAlive: true, record: { id: 'b' }, mount: undefined }])
})
