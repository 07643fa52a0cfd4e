// The folder docmount makes for a drive: while nothing is mounted, nothing can be saved beside the drive.

import { chown, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { cli } from '../support/cli.ts'
import { makeOrdinaryUser, whyNoUserMount, type OrdinaryUser } from '../support/ordinary-user.ts'
import { run, type Ran } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const why = whyNoUserMount()

describe.skipIf(why !== undefined)(`an ordinary user${why === undefined ? '' : ` (${why})`}`, () => {
  let user: OrdinaryUser
  let testService: TestService

  beforeAll(async () => {
    user = await makeOrdinaryUser()
    testService = await startTestService()
  })
  afterAll(async () => {
    await testService?.close()
    await user?.remove()
  })

  it.each(['kernel', 'fuse-native'])('saves nothing beside the drive (%s)', async (driver) => {
    const temporary: TemporaryFolder = await makeTemporaryFolder(user)
    for (const name of ['home', 'run']) {
      await mkdir(join(temporary.path, name), { mode: 0o700 })
      await chown(join(temporary.path, name), user.uid, user.gid)
    }
    const drive = join(temporary.path, 'home', project)
    const env = {
      PATH: process.env['PATH'],
      HOME: join(temporary.path, 'home'),
      XDG_RUNTIME_DIR: join(temporary.path, 'run'),
      DOCMOUNT_BASE_URL: testService.baseUrl,
      DOCMOUNT_API_KEY: testService.apiKey,
    }
    const as = { env, user: { uid: user.uid, gid: user.gid }, mayFail: true }
    const docmount = (...args: string[]): Promise<Ran> => run(process.execPath, [cli, ...args], as)
    const save = (): Promise<Ran> => run('sh', ['-c', 'echo saved >"$1/a.txt"', 'sh', drive], as)
    try {
      for (let round = 1; round <= 2; round++) {
        expect(await docmount('mount', project, '--driver', driver)).toMatchObject({ code: 0, stderr: '' })
        expect((await save()).code).toBe(0)
        expect(await docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
        expect((await stat(drive)).mode & 0o777).toBe(0o500)
        expect((await save()).stderr).toMatch(/permission denied/i)
      }
    } finally {
      await run('umount', ['-l', drive], { mayFail: true })
      await temporary.remove()
    }
  })
})
