// Folders of this machine in which docmount keeps anything: nobody else can write to them.

import { existsSync } from 'node:fs'
import { chmod, lchown, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Journal } from '../src/content/spool/journal.ts'
import { ensureFolders, planMount } from '../src/daemon/mount-plan.ts'
import { readOwnRecords } from '../src/daemon/own-records.ts'
import { whyNotOurs, whyNotSafe } from '../src/own-folder.ts'
import { systemDisk } from '../src/world/disk.ts'
import { realWorld } from '../src/world/world.ts'
import { isRoot } from './support/ordinary-user.ts'
import { type TemporaryFolder, makeTemporaryFolder } from './support/temporary-folder.ts'

const somebodyElse = 54_321

let temporary: TemporaryFolder
let folder: string
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  folder = join(temporary.path, 'folder')
  await mkdir(folder, { mode: 0o700 })
})
afterEach(() => temporary.remove())

const giveAway = (path: string): Promise<void> => lchown(path, somebodyElse, somebodyElse)

describe('a folder', () => {
  test('that is ours is taken, also behind a link of our own', async () => {
    await writeFile(join(folder, 'a'), '')
    await mkdir(join(folder, 'b'))
    const link = join(temporary.path, 'link')
    await symlink(folder, link)
    for (const path of [folder, link, join(temporary.path, 'missing')])
      expect(whyNotOurs(path)).toBeUndefined()
    await chmod(folder, 0o755)
    expect(whyNotOurs(folder)).toBeUndefined()
  })

  test.each([0o777, 0o775, 0o1777])('that others can write to is not: %o', async (mode) => {
    await chmod(folder, mode)
    expect(whyNotOurs(folder)).toBe(`other users can write to ${folder} (run: chmod go-w ${folder})`)
    const isSticky = mode === 0o1777
    expect(whyNotSafe(folder) === undefined).toBe(isSticky)
  })

  test('that holds a link is not: it was made while others could', async () => {
    await symlink('/etc/passwd', join(folder, 'lock.db'))
    expect(whyNotOurs(folder)).toMatch(/lock\.db is a link.*: remove it$/)
  })

  test.skipIf(!isRoot)('of another user is not, nor what others have put into ours', async () => {
    const planted = join(folder, 'journal.db')
    await writeFile(planted, '')
    await giveAway(planted)
    expect(whyNotOurs(folder)).toBe(`${planted} belongs to another user: remove it`)
    const link = join(temporary.path, 'link')
    await symlink(temporary.path, link)
    await giveAway(link)
    expect(whyNotOurs(link)).toBe(`${link} belongs to another user`)
    await giveAway(folder)
    for (const why of [whyNotOurs, whyNotSafe]) expect(why(folder)).toBe(`${folder} belongs to another user`)
  })
})

describe('a drive', () => {
  const wanted = { project: 'acme', baseUrl: 'https://docs.example/api', mountpoint: '/mnt' }
  const planOf = (options: object = {}): ReturnType<typeof planMount> =>
    planMount({ ...wanted, ...options }, { HOME: temporary.path, XDG_RUNTIME_DIR: temporary.path })

  test.each([
    ['state', { stateDir: 'folder' }, '--state-dir'],
    ['cache', { cacheDir: 'folder' }, '--cache-dir'],
    ['runtime', {}, 'XDG_RUNTIME_DIR'],
  ])('is refused a %s folder that others can write to', async (name, options, option) => {
    const given = name === 'runtime' ? join(temporary.path, 'docmount') : folder
    await mkdir(given, { recursive: true })
    await chmod(given, 0o777)
    const inPlace = Object.fromEntries(Object.keys(options).map((key) => [key, folder]))
    await expect(ensureFolders(planOf(inPlace))).rejects.toThrow(
      `the ${name} folder is not safe: other users can write to ${given} (run: chmod go-w ${given}); ${option} names another`,
    )
    await chmod(given, 0o700)
    await ensureFolders(planOf(inPlace))
  })

  test('is not looked for where others can put records', async () => {
    await chmod(folder, 0o777)
    await expect(readOwnRecords(folder)).rejects.toThrow('other users can write to')
  })

  test('empties no file through a planted link, and moves none', async () => {
    const victim = join(temporary.path, 'victim')
    await writeFile(victim, 'precious'.repeat(100))
    await symlink(victim, join(folder, 'lock.db'))
    expect(() => new Journal(folder, realWorld())).toThrow('lock.db is a link')
    expect(await readFile(victim, 'utf8')).toBe('precious'.repeat(100))

    const foreign = join(temporary.path, 'foreign')
    await mkdir(foreign, { mode: 0o755 })
    await writeFile(join(foreign, 'theirs'), 'x')
    const state = join(temporary.path, 'state')
    await mkdir(state, { mode: 0o700 })
    await symlink(foreign, join(state, 'spool'))
    expect(() => new Journal(state, realWorld())).toThrow('spool is a link')
    expect([await readdir(foreign), (await stat(foreign)).mode & 0o777]).toEqual([['theirs'], 0o755])
  })

  test('writes no file behind a link', async () => {
    const victim = join(temporary.path, 'victim')
    await writeFile(victim, 'precious')
    const link = join(folder, 'link')
    await symlink(victim, link)
    const error = { code: 'ELOOP' }
    expect(() => systemDisk.writeFileSync(link, 'x', { mode: 0o600 })).toThrow(expect.objectContaining(error))
    for (const flags of ['r+', 'w', 'w+'] as const) {
      expect(() => systemDisk.openSync(link, flags)).toThrow(expect.objectContaining(error))
      await expect(systemDisk.open(link, flags)).rejects.toMatchObject(error)
    }
    expect(await readFile(victim, 'utf8')).toBe('precious')
    await symlink(join(temporary.path, 'new'), join(folder, 'dangling'))
    expect(() => systemDisk.openSync(join(folder, 'dangling'), 'wx')).toThrow('EEXIST')
    expect(existsSync(join(temporary.path, 'new'))).toBe(false)
  })
})
