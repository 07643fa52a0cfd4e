import { mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openMountpoint, reserveMountpoint } from '../../src/daemon/mountpoint.ts'
import { resolveMountpoint } from '../../src/fuse/mountpoint.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

const prepare = (mountpoint: string, makeIfMissing = false): Promise<boolean> =>
  reserveMountpoint(mountpoint, { makeIfMissing, runtimeDir: temporary.path })

test('an empty folder is fine', async () => {
  const folder = join(temporary.path, 'drive')
  await mkdir(folder)
  expect(await prepare(folder)).toBe(false)
})

test('a missing folder is made where that is allowed, and only there', async () => {
  const folder = join(temporary.path, 'a', 'drive')
  await expect(prepare(folder)).rejects.toThrow(`${folder} does not exist; run: mkdir -p ${folder}`)
  expect(await prepare(folder, true)).toBe(true)
  expect((await stat(folder)).isDirectory()).toBe(true)
  expect(await prepare(folder, true)).toBe(false)
})

test('a file, a full folder and a mount of something else are refused', async () => {
  const file = join(temporary.path, 'file')
  await writeFile(file, '')
  await expect(prepare(file)).rejects.toThrow(/is not a folder/)
  await expect(prepare(temporary.path)).rejects.toThrow(/is not empty \(it holds file\)/)
  await expect(prepare('/proc')).rejects.toThrow(/busy: proc is mounted there/)
})

test('a folder that docmount made is closed but for mounting, also the next time', async () => {
  const folder = join(temporary.path, 'drive')
  await prepare(folder, true)
  const modes: number[] = []
  const look = async (): Promise<void> => void modes.push((await stat(folder)).mode & 0o777)
  for (const isMade of [true, false]) {
    const close = await openMountpoint(folder, isMade)
    await look()
    await close()
    await close()
    await look()
  }
  expect(modes).toEqual([0o700, 0o500, 0o700, 0o500])
})

test('a folder that somebody else made is left as it is', async () => {
  const folder = join(temporary.path, 'drive')
  await mkdir(folder, { mode: 0o750 })
  await (
    await openMountpoint(folder, false)
  )()
  expect((await stat(folder)).mode & 0o777).toBe(0o750)
})

test('files that were saved beside the drive are named, with what to do', async () => {
  await writeFile(join(temporary.path, 'report.pdf'), '')
  await expect(prepare(temporary.path)).rejects.toThrow(
    /it holds report\.pdf\).*saved while nothing was mounted\. Move them away, mount, and copy them in/,
  )
})

test('links are followed to the true folder', async () => {
  const folder = join(temporary.path, 'drive')
  await mkdir(folder)
  await symlink(folder, join(temporary.path, 'link'))
  await symlink(temporary.path, join(temporary.path, 'up'))
  expect(await resolveMountpoint(join(temporary.path, 'link'))).toBe(folder)
  expect(await resolveMountpoint(join(temporary.path, 'up', 'drive'))).toBe(folder)
  expect(await resolveMountpoint(join(temporary.path, 'up', 'new'))).toBe(join(temporary.path, 'new'))
})

test('a passed descriptor whose mount nobody tells keeps its name', async () => {
  expect(await resolveMountpoint('/dev/fd/987')).toBe('/dev/fd/987')
})
