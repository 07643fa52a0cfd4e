import { mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareMountpoint, resolveMountpoint } from '../../src/daemon/mountpoint.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

const prepare = (mountpoint: string, makeIfMissing = false): Promise<boolean> =>
  prepareMountpoint(mountpoint, { makeIfMissing, runtimeDir: temporary.path })

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
