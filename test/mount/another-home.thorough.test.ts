// A drive is the same drive from every shell of its user, whatever $HOME and $XDG_RUNTIME_DIR say there; and one that is mounted
// is not mounted again.

import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { bareHomeIn } from '../support/home.ts'
import { run, type Ran } from '../support/run.ts'
import { project } from '../support/service.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

/** The same user with another home. */
async function elsewhere(...args: readonly string[]): Promise<Ran> {
  const home = join(desk.home, 'elsewhere')
  await mkdir(join(home, 'run'), { recursive: true })
  const { DOCMOUNT_BASE_URL, DOCMOUNT_API_KEY } = desk.env
  const env = { ...bareHomeIn(home), DOCMOUNT_BASE_URL, DOCMOUNT_API_KEY }
  return run(process.execPath, [cli, ...args], { env, mayFail: true })
}

describe.skipIf(whyNoFuse() !== undefined)('with another home', () => {
  test('status shows a live drive as it is, in words and as JSON', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    for (const words of [['status'], ['status', drive]]) {
      const { stdout } = await elsewhere(...words)
      expect(stdout).toContain(`${drive}  ${project} at ${desk.testService.baseUrl}  live`)
      expect(stdout).not.toContain(`docmount unmount ${drive}`)
    }
    const all = JSON.parse((await elsewhere('status', '--json')).stdout) as MountStatus[]
    expect(all.find(({ mountpoint }) => mountpoint === drive)).toMatchObject({ state: 'live', project })
    expect((await elsewhere('status', join(drive, 'a.txt'))).stdout).toContain('with the service since')
  })

  test('a drive is asked and unmounted by its folder, and by nothing less', async () => {
    const drive = await desk.mount('drive')
    expect(await elsewhere('wait', drive)).toMatchObject({ code: 0, stderr: '' })
    expect((await elsewhere('unmount', project)).stderr).toContain(
      'neither on a drive nor the project of one',
    )
    expect((await elsewhere('unmount', '--all')).stderr).toContain('no drive is mounted')
    expect(await desk.living()).toHaveLength(1)
    expect(await elsewhere('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
    expect(await desk.living()).toHaveLength(0)
  })

  test('a drive that is served by WebDAV alone is shown, too', async () => {
    const { code, stderr } = await desk.docmount('webdav', '--quiet', project, '--listen', '127.0.0.1:0')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const url = (await desk.living())[0]?.mountpoint ?? 'none'
    expect((await elsewhere('status', url)).stdout).toContain(`${url}  ${project} at`)
  })
})

describe.skipIf(whyNoFuse() !== undefined)('a drive that is mounted', () => {
  test('is not mounted again: a second mount says where it is, and its log stays as it is', async () => {
    const drive = await desk.mount('drive')
    const log = (await desk.records())[0]?.logFile ?? ''
    const before = await readFile(log, 'utf8')
    for (const again of [(...words: string[]) => desk.docmount(...words), elsewhere])
      expect(await again('mount', project, drive)).toMatchObject({
        code: 0,
        stdout: `${project} is mounted at ${drive} already\n`,
        stderr: '',
      })
    expect(await readFile(log, 'utf8')).toBe(before)
    expect(await desk.docmount('mount', '--quiet', project, drive)).toMatchObject({ code: 0, stdout: '' })
    expect(await stat(join(desk.home, 'elsewhere/.local')).catch(() => 'nothing')).toBe('nothing')
  })

  test('keeps its place from another service’s project and from a daemon in the foreground', async () => {
    const drive = await desk.mount('drive')
    const other = await desk.docmount('mount', project, drive, '--base-url', 'http://127.0.0.1:1/api')
    expect(other).toMatchObject({ code: 1 })
    expect(other.stderr).toMatch(
      new RegExp(`${drive} is busy: ${project} of ${desk.testService.baseUrl} is mounted there`),
    )
    const foreground = await desk.docmount('mount', project, drive, '--foreground')
    expect(foreground).toMatchObject({ code: 1 })
    expect(foreground.stderr).toContain(`${project} is mounted at ${drive} already`)
    expect(await desk.living()).toHaveLength(1)
  })

  test('is not taken for one with other options', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    expect(await desk.docmount('mount', '--close-wait', '0', project, drive)).toMatchObject({ code: 0 })
    const other = await desk.docmount('mount', project, drive, '--read-only')
    expect(other).toMatchObject({ code: 1, stdout: '' })
    expect(other.stderr).toContain(`for others, end it first: docmount unmount ${drive}`)
  })

  test('by WebDAV alone is not served again', async () => {
    const serve = ['webdav', project, '--listen', '127.0.0.1:0'] as const
    await desk.docmount(...serve)
    const [record] = await desk.living()
    const port = new URL(record?.mountpoint ?? '').port
    expect(await desk.docmount(...serve)).toMatchObject({ code: 0 })
    expect(port).not.toBe('0')
  })
})
