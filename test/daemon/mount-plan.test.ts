import { mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureFolders, planMount } from '../../src/daemon/mount-plan.ts'
import { runtimeFolder, xdgFolder } from '../../src/daemon/xdg.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeAll(async () => {
  temporary = await makeTemporaryFolder()
})
afterAll(() => temporary.remove())

const env = { HOME: '/home/me', XDG_RUNTIME_DIR: '/run/user/1000' }
const wanted = { project: 'acme', baseUrl: 'https://service.example/api', mountpoint: '/home/me/acme' }

describe('XDG folders', () => {
  test('an empty or relative variable counts as unset', () => {
    expect(xdgFolder('state', { HOME: '/home/me', XDG_STATE_HOME: '' })).toBe(
      '/home/me/.local/state/docmount',
    )
    expect(xdgFolder('cache', { HOME: '/home/me', XDG_CACHE_HOME: 'here' })).toBe('/home/me/.cache/docmount')
    expect(xdgFolder('config', { HOME: '/home/me', XDG_CONFIG_HOME: '/etc/xdg' })).toBe('/etc/xdg/docmount')
  })

  test('without a runtime folder root uses /run and anybody else the state folder', () => {
    expect(runtimeFolder({ HOME: '/root' }, 0)).toBe('/run/docmount')
    expect(runtimeFolder({ HOME: '/home/me' }, 1000)).toBe('/home/me/.local/state/docmount/run')
    expect(runtimeFolder(env, 0)).toBe('/run/user/1000/docmount')
  })
})

describe('planMount', () => {
  test('two mountpoints of one project have states of their own and share the cache', () => {
    const one = planMount(wanted, env)
    const other = planMount({ ...wanted, mountpoint: '/mnt/acme' }, env)
    expect(one.stateDir).not.toBe(other.stateDir)
    expect(one.cacheDir).toBe(other.cacheDir)
  })

  test('a slash at the end of the base URL changes nothing', () => {
    expect(planMount({ ...wanted, baseUrl: `${wanted.baseUrl}/` }, env)).toEqual(planMount(wanted, env))
  })

  test('one project name at two services has two caches', () => {
    const other = planMount({ ...wanted, baseUrl: 'https://other.example/api' }, env)
    expect(other.cacheDir).not.toBe(planMount(wanted, env).cacheDir)
  })

  test('a project name cannot lead out of the folders', () => {
    for (const project of ['../../etc', '.', 'a/b', 'a\nb', 'x'.repeat(300), '日本']) {
      expect(planMount({ ...wanted, project }, env).id).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,60}$/)
    }
  })

  test('given folders are taken as they are', () => {
    const plan = planMount({ ...wanted, stateDir: '/s', logFile: '/l/x.log' }, env)
    expect(plan).toMatchObject({ stateDir: '/s', logFile: '/l/x.log' })
  })

  test('in a cache folder that is given each project has one of its own', () => {
    const given = { ...wanted, cacheDir: '/c' }
    const of = (options: object): string => planMount({ ...given, ...options }, env).cacheDir
    expect(of({})).toMatch(/^\/c\/acme-\w+$/)
    expect(of({ mountpoint: '/mnt/acme' })).toBe(of({}))
    expect(of({ project: 'beta' })).not.toBe(of({}))
    expect(of({ baseUrl: 'https://other.example/api' })).not.toBe(of({}))
  })
})

describe('ensureFolders', () => {
  test('makes the folders for this user alone', async () => {
    const home = join(temporary.path, 'home')
    const plan = planMount(
      { ...wanted, mountpoint: join(home, 'acme') },
      { HOME: home, XDG_RUNTIME_DIR: join(home, 'run') },
    )
    await ensureFolders(plan)
    for (const folder of [plan.stateDir, plan.cacheDir, plan.runtimeDir]) {
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
    }
  })

  test('of a cache folder from before projects were told apart in it takes what is pinned, and clears the rest', async () => {
    const home = join(temporary.path, 'earlier')
    const cacheDir = join(home, 'given')
    for (const path of ['pinned/0123', 'blocks-2/ab', 'theirs'])
      await mkdir(join(cacheDir, path), { recursive: true, mode: 0o700 })
    const plan = planMount({ ...wanted, cacheDir }, { HOME: home, XDG_RUNTIME_DIR: join(home, 'run') })
    await ensureFolders(plan)
    expect(await readdir(plan.cacheDir, { recursive: true })).toEqual(['pinned', 'pinned/0123'])
    expect((await readdir(cacheDir)).toSorted()).toEqual([basename(plan.cacheDir), 'theirs'])
  })

  test('refuses a folder inside the mountpoint, also behind a link', async () => {
    const mountpoint = join(temporary.path, 'drive')
    const link = join(temporary.path, 'link')
    await mkdir(mountpoint)
    await symlink(mountpoint, link)
    const places = { HOME: temporary.path, XDG_RUNTIME_DIR: join(temporary.path, 'run') }
    for (const stateDir of [mountpoint, join(mountpoint, 'a/b'), join(link, 'state')]) {
      const plan = planMount({ ...wanted, mountpoint, stateDir }, places)
      await expect(ensureFolders(plan)).rejects.toThrow(/the state folder .* lies inside the mountpoint/)
    }
    await expect(stat(join(mountpoint, 'a'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
