// Messages about a drive are true, said once, and say what to do.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startRawServer } from '../support/raw-server.ts'
import { bash } from '../support/run.ts'
import { project } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

describe.skipIf(whyNoFuse() !== undefined)('a message', () => {
  test('of recover, for a folder and for what is not there, is no errno', async () => {
    await desk.testService.other.put('/folder/a.txt', 'a')
    const drive = await desk.mount('drive')
    const folder = join(drive, 'folder')
    const copy = join(desk.home, 'copy')
    expect((await desk.docmount('recover', folder, copy)).stderr).toBe(
      `docmount: ${folder} is a folder: name a document in it, copy it with cp -r, or take everything that is not sent with docmount recover --all FOLDER\n`,
    )
    const none = join(folder, 'none.txt')
    expect((await desk.docmount('recover', none, copy)).stderr).toBe(
      `docmount: ${none} is neither in the service nor on this machine\n`,
    )
  })

  test('of wait says why in words, without the errno that programs get, also after a remount', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.other.put('/taken/a.txt', 'a')
    await desk.testService.stop()
    await desk.save(join(drive, 'taken'), 'a document, where there is a folder')
    await desk.testService.start()
    for (const _ of ['first', 'after a remount']) {
      await waitUntil('it to be refused', async () =>
        (await desk.docmount('status', drive)).stdout.includes('refused'),
      )
      const { code, stderr } = await desk.docmount('wait', drive)
      expect(stderr).toBe('docmount: /taken: a folder stands here in the service\n')
      expect(code).toBe(1)
      expect((await desk.docmount('status', join(drive, 'taken'))).stdout).not.toMatch(/E[A-Z]{3,}/)
      await desk.docmount('unmount', drive)
      await desk.mount('drive', '--close-wait', '0')
    }
  })

  test('of a start in the foreground tells of a service that breaks each connection', async () => {
    await using server = await startRawServer((request) => request.socket.destroy())
    const where = ['--base-url', `${server.origin}/api`, '--foreground']
    const { code, stderr } = await desk.docmount('mount', project, join(desk.home, 'drive'), ...where)
    expect(stderr).toMatch(
      /^docmount: cannot reach the service at .*the connection broke: .*check --base-url/m,
    )
    expect(code).toBe(75)
  })

  test('of df about inodes makes nothing up', async () => {
    const drive = await desk.mount('drive')
    const { stdout } = await inDrive('df', '--output=itotal,iused,iavail,ipcent', drive)
    expect(stdout.trim().split('\n')[1]?.trim().split(/\s+/)).toEqual(['0', '0', '0', '-'])
  })

  test('of unmount does not promise that a backup is sent', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'f.txt'), 'new')
    await desk.save(join(drive, 'f.txt~'), 'old')
    expect((await desk.docmount('unmount', drive)).stderr).toBe(
      'docmount: 1 temporary file is on this machine only, and kept for the next mount:\n' +
        '  /f.txt~  3 bytes  a backup of f.txt\n',
    )
  })

  test('keeps a name with a line break on its line, also in the reason', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'f\ndocmount.txt'), 'new')
    await desk.save(join(drive, 'f\ndocmount.txt~'), 'old')
    const line = '/f?docmount.txt~  3 bytes  a backup of f?docmount.txt\n'
    expect((await desk.docmount('wait', drive)).stderr).toBe(
      `docmount: everything is sent, except 1 temporary file on this machine only:\n  ${line}`,
    )
    expect((await desk.docmount('status', drive)).stdout).toContain(': a backup of f?docmount.txt\n')
    expect((await desk.docmount('unmount', drive)).stderr).toContain(line)
  })

  test('of put, for a name that is taken, has one advice', async () => {
    await desk.testService.other.put('/a.txt', 'a')
    const file = join(desk.home, 'a.txt')
    await writeFile(file, 'mine')
    expect((await desk.docmount('put', project, file, '/a.txt')).stderr).toBe(
      'docmount: PUT /a.txt: 409 a document exists there; --replace puts this one in its place\n',
    )
  })

  test('of a shell that allows few open files says so before a drive begins', async () => {
    await mkdir(join(desk.home, 'few'))
    const mount = [process.execPath, cli, 'mount', project, join(desk.home, 'few')]
    const { code, stderr } = await bash('ulimit -n 64; "$@"', mount, { env: desk.env, mayFail: true })
    expect(stderr).toBe(
      'docmount: this shell allows 64 open files, and a drive needs 256 or more; run: ulimit -n 4096\n',
    )
    expect(code).toBe(1)
    expect(await desk.living()).toEqual([])
  })
})
