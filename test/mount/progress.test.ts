// What a person sees who waits for a drive: at a terminal, a bar.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { whyNoPython } from '../support/python.ts'
import { run } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal, type Terminal } from '../support/terminal.ts'

const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname

describe.skipIf(whyNoFuse() !== undefined || whyNoPython !== undefined)('at a terminal', () => {
  let temporary: TemporaryFolder
  let service: TestService
  let env: NodeJS.ProcessEnv
  let drive: string
  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
    service = await startTestService()
    drive = join(temporary.path, project)
    env = {
      PATH: process.env['PATH'],
      HOME: temporary.path,
      DOCMOUNT_BASE_URL: service.baseUrl,
      DOCMOUNT_API_KEY: service.apiKey,
    }
  })
  afterEach(async () => {
    await run('umount', ['-f', '-l', drive], { mayFail: true })
    await service.close()
    await temporary.remove()
  })

  const docmount = (...args: string[]): Promise<Terminal> =>
    atTerminal(process.execPath, [cli, ...args], { env, columns: 120 })

  async function copyIn(names: readonly string[], bytes = 150_000): Promise<void> {
    for (const name of names) {
      const local = join(temporary.path, name)
      await writeFile(local, 'x'.repeat(bytes))
      await run('timeout', ['20', 'cp', local, drive])
    }
  }

  test('wait, unmount and the next mount tell how much is sent, and how much is left', async () => {
    await docmount('mount', project, '--close-wait', '0', '--bwlimit', '100K')
    await copyIn(['a.txt', 'b.txt', 'c.txt'])
    const waited = await docmount('wait', drive)
    expect(waited.drawn).toMatch(/sending {2}[█░]+ {2}\d+ % {2}\d.* of \d+\.\d KiB .*changes? left/)
    expect(waited.code).toBe(0)

    await copyIn(['d.txt', 'e.txt'], 400_000)
    const unmounted = await docmount('unmount', drive, '--timeout', '2s')
    expect(unmounted.drawn).toMatch(/unmounting {2}[█░]+ {2}\d+ % {2}\d.* of \d+\.\d KiB/)
    expect(unmounted.code).toBe(1)

    const mounted = await docmount('mount', project, '--bwlimit', '100K')
    expect(mounted.drawn).toMatch(/\d changes? of before \(\d.*\) to be sent; docmount wait .* waits for it/)
    expect(await docmount('wait', drive, '--quiet')).toEqual({ code: 0, drawn: '' })
    expect(await docmount('unmount', drive, '--quiet')).toMatchObject({ code: 0, drawn: '' })
  })

  test('a single large document counts while it is on its way', async () => {
    await docmount('mount', project, '--close-wait', '0', '--bwlimit', '1M')
    await copyIn(['a.txt'], 4_000_000)
    const { drawn } = await docmount('wait', drive)
    const percents = new Set([...drawn.matchAll(/ (\d+) % /g)].map(([, percent]) => percent))
    expect(percents.size).toBeGreaterThan(2)
    await docmount('unmount', drive)
  })

  test('mount tells that it waits for the service', async () => {
    await service.stop()
    const mounting = docmount('mount', project, '--wait', '20s')
    setTimeout(() => void service.start(), 3_000)
    const { code, drawn } = await mounting
    expect(drawn).toMatch(/mounting acme {2}waiting for the service/)
    expect(code).toBe(0)
    await docmount('unmount', drive)
  })
})
