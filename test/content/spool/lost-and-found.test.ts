// `lost+found` and power cuts: at each step of moving content there, and of taking it out, a cut leaves a file with the content.

import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LostAndFound } from '../../../src/content/spool/lost-and-found.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { type Disk, systemDisk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

/**
 * This machine's disk, which knows what a power cut leaves in the worst case: a name that was made is there once its folder was
 * synced, one that was removed is gone at once, and of a rename one of the two names is there.
 */
function worstDisk(root: string, check: () => void): { disk: Disk; isSafe: (path: string) => boolean } {
  const safe = new Set<string>()
  const opened = new Map<number, string>()
  const isSafe = (path: string): boolean =>
    path === root || (path.startsWith(root + sep) && safe.has(path) && isSafe(dirname(path)))
  const syncAll = (folder: string): void => {
    for (const { name, parentPath } of readdirSync(folder, { recursive: true, withFileTypes: true }))
      safe.add(join(parentPath, name))
  }
  syncAll(root)
  const disk: Disk = {
    ...systemDisk,
    openSync(path, flags, mode) {
      const fd = systemDisk.openSync(path, flags, mode)
      opened.set(fd, path)
      return fd
    },
    fsyncSync(fd) {
      systemDisk.fsyncSync(fd)
      const path = opened.get(fd)!
      if (systemDisk.statSync(path).ino === systemDisk.fstatSync(fd).ino && !path.includes('content'))
        for (const name of readdirSync(path)) safe.add(join(path, name))
      check()
    },
    renameSync(from, to) {
      const isKept = isSafe(from) && isSafe(dirname(to))
      systemDisk.renameSync(from, to)
      safe.delete(from)
      if (isKept) safe.add(to)
      check()
    },
    unlinkSync(path) {
      systemDisk.unlinkSync(path)
      safe.delete(path)
      check()
    },
    async copyFile(from, to, mode) {
      await systemDisk.copyFile(from, to, mode)
      check()
    },
  }
  return { disk, isSafe }
}

test('moved there, and taken out to new folders, each content has a name at any moment', async () => {
  const state = join(temporary.path, 'state')
  const spoolDir = join(state, 'spool')
  await mkdir(spoolDir, { recursive: true, mode: 0o700 })
  const ids = ['one.content', 'two.content']
  for (const id of ids) await writeFile(join(spoolDir, id), id)
  let checks = 0
  const { disk, isSafe } = worstDisk(temporary.path, () => {
    checks++
    const left = readdirSync(temporary.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.includes('content'))
      .map(({ name, parentPath }) => join(parentPath, name))
      .filter((file) => isSafe(file))
      .map((file) => readFileSync(file, 'utf8'))
    expect([...new Set(left)].toSorted(), `check ${checks}`).toEqual(ids)
  })
  const rows = { save() {}, remove() {}, forget() {}, onRollback() {}, get: () => undefined }
  const lost = new LostAndFound(state, disk)
  const found = lost.keep(new Spool(spoolDir, rows, { ...realWorld(), disk }), ids, new Date(0))
  expect(found.map(({ file }) => isSafe(file))).toEqual([true, true])
  const copies = await lost.giveBack(join(temporary.path, 'new', 'folder'))
  expect(lost.list()).toEqual([])
  expect(copies.map((file) => isSafe(file))).toEqual([true, true])
  expect(await Promise.all(copies.map((file) => readFile(file, 'utf8')))).toEqual(ids)
  expect(checks).toBeGreaterThan(6)
})
