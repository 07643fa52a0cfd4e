// Files of a state folder that cannot be read now: they stay, and are not taken for missing.

import { chmodSync, chownSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { checkOwner, driveFileName, findStateFolders } from '../../src/daemon/drive-file.ts'
import { readLeftBehind } from '../../src/daemon/left-behind.ts'
import type { MountPlan } from '../../src/daemon/mount-plan.ts'
import { passwordIn } from '../../src/daemon/webdav-door.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await temporary.remove()
})

/** Root may read everything. */
const nobody = 65_534

async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (isRoot) process.seteuid?.(nobody)
  try {
    await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

test('the password of WebDAV is not replaced by another one', async () => {
  const file = join(temporary.path, 'webdav-password')
  const password = await passwordIn(file)
  expect(await passwordIn(file)).toBe(password)
  chmodSync(file, 0o200)
  if (isRoot) for (const path of [temporary.path, file]) chownSync(path, nobody, nobody)
  await asOrdinaryUser(() => expect(passwordIn(file)).rejects.toMatchObject({ code: 'EACCES' }))
  expect(readFileSync(file, 'utf8')).toBe(`${password}\n`)
})

test('a state folder is not used while it is not known whose it is', async () => {
  const { path: stateDir } = temporary
  const file = join(stateDir, driveFileName)
  const check = (project: string): Promise<void> =>
    checkOwner({ id: 'acme-1', project, stateDir, mountpoint: '/m' } as MountPlan)
  await check('acme')
  mkdirSync(file)
  await expect(check('acme')).rejects.toMatchObject({ code: 'EISDIR' })
  rmdirSync(file)
  const drive = {
    project: 'other',
    baseUrl: 'http://localhost/',
    mountpoint: '/m',
    stateDir,
    runtimeDir: '/r',
  }
  writeFileSync(file, JSON.stringify(drive))
  await check('other')
  await expect(check('acme')).rejects.toThrow("is the project other's")
  writeFileSync(file, JSON.stringify(drive).slice(0, 20))
  await expect(check('other')).rejects.toThrow(`${file} is damaged`)
})

test.runIf(isRoot)('a state folder that cannot be read is not taken for an empty one', async () => {
  const state = join(temporary.path, 'state')
  mkdirSync(state)
  chmodSync(temporary.path, 0o755)
  chmodSync(state, 0o000)
  await asOrdinaryUser(async () =>
    expect((await readLeftBehind(state)).problem).toBe(`${state} cannot be read (EACCES)`),
  )
  expect((await readLeftBehind(join(state, 'none'))).problem).toBeUndefined()
})

test.runIf(isRoot)('state folders that cannot be found are not taken for none', async () => {
  vi.stubEnv('XDG_STATE_HOME', temporary.path)
  expect(await findStateFolders()).toEqual([])
  const parent = join(temporary.path, 'docmount')
  mkdirSync(parent)
  chmodSync(temporary.path, 0o755)
  chmodSync(parent, 0o000)
  await asOrdinaryUser(async () =>
    expect(await findStateFolders()).toMatchObject([
      { stateDir: parent, problem: expect.stringContaining('EACCES') },
    ]),
  )
})
