// The package as npm makes it of a clone that never was built, installed into an empty prefix: it mounts from there. The npm is
// the oldest that README's line meets, Debian 13's; what it starts finds the same one.

import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloneTo } from '../support/clone.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const limitMs = 900_000

const npm = ['--yes', 'npm@9.2.0']

describe.runIf(whyNoFuse() === undefined)(
  'the npm package',
  () => {
    let folder: TemporaryFolder
    let service: TestService
    let prefix: string
    beforeAll(async () => {
      folder = await makeTemporaryFolder()
      service = await startTestService()
      prefix = join(folder.path, 'prefix')
      const clone = join(folder.path, 'clone')
      await cloneTo(clone)
      await run('npx', [...npm, '--prefix', clone, 'pack', clone, '--pack-destination', folder.path], {
        limitMs,
      })
      const tarball = (await readdir(folder.path)).find((name) => name.endsWith('.tgz')) ?? ''
      const install = ['install', '--global', '--engine-strict', '--ignore-scripts', '--prefix', prefix]
      await run('npx', [...npm, ...install, join(folder.path, tarball)], { limitMs })
    }, 2 * limitMs)
    afterAll(async () => {
      await service?.close()
      await folder?.remove()
    })

    test('has the program, its man page, and the docs that README links to', async () => {
      const installed = join(prefix, 'lib', 'node_modules', 'docmount')
      for (const file of [
        'README.md',
        'native-deps.md',
        'docs/changelog.md',
        'docs/reliability.md',
        'docs/bench/bench.json',
        'docs/pictures/ui-light.png',
        'dist/ui/assets/page.js',
      ])
        expect((await stat(join(installed, file))).size).toBeGreaterThan(0)
      expect((await stat(join(prefix, 'share/man/man1/docmount.1'))).size).toBeGreaterThan(1000)
      expect((await run(join(prefix, 'bin/docmount'), ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    })

    test('mounts and unmounts', async () => {
      const drive = join(folder.path, 'drive')
      await mkdir(drive)
      const env = {
        ...process.env,
        HOME: folder.path,
        XDG_RUNTIME_DIR: join(folder.path, 'run'),
        XDG_STATE_HOME: join(folder.path, 'state'),
        XDG_CACHE_HOME: join(folder.path, 'cache'),
        DOCMOUNT_BASE_URL: service.baseUrl,
        DOCMOUNT_API_KEY: service.apiKey,
      }
      const docmount = join(prefix, 'bin/docmount')
      await run(docmount, ['mount', 'acme', drive], { env })
      try {
        await run('timeout', ['200', 'cp', join(import.meta.dirname, '../../README.md'), drive])
        await service.other.bytes('/README.md')
      } finally {
        await run(docmount, ['unmount', drive], { env })
      }
    })
  },
  limitMs,
)
