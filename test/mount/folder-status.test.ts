// States of a folder's names, as commands and programs are told them of a real drive.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FolderChange, FolderStatus } from '../../src/fs/status.ts'
import { cli } from '../support/cli.ts'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

describe.skipIf(whyNoFuse() !== undefined)('docmount status --names', () => {
  test('tells each name of a folder, and of the folders above the worst', async () => {
    await desk.testService.other.put('/folder/stored.txt', 'stored')
    const drive = await desk.mount('drive')
    const folder = join(drive, 'folder')
    await inDrive('ls', folder)
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    await desk.save(join(folder, 'refused.txt'), 'four')
    await desk.save(join(folder, '.~lock.x#'), 'me')
    const { stdout } = await desk.docmount('status', folder, '--names')
    expect(stdout).toMatch(/^NAME +STATE +HERE +SENT +PROBLEM\n/)
    expect(stdout).toMatch(/^stored\.txt +stored +no$/m)
    expect(stdout).toMatch(/^refused\.txt +refused +cached +0 bytes of 4 bytes \(0 %\) +PUT .*413/m)
    expect(stdout).toMatch(/^\.~lock\.x# +local +cached +belongs to the program that made it$/m)
    const above = JSON.parse(
      (await desk.docmount('status', drive, '--names', '--json')).stdout,
    ) as FolderStatus
    expect(above).toMatchObject({ path: '/', isListed: true, names: [{ name: 'folder', state: 'refused' }] })
    expect(await desk.docmount('status', join(drive, 'none.txt'), '--names')).toMatchObject({ code: 1 })
  })

  test('is answered while the service is away', async () => {
    await desk.testService.other.put('/folder/stored.txt', 'stored')
    const drive = await desk.mount('drive')
    await inDrive('ls', join(drive, 'folder'))
    await desk.testService.stop()
    const before = desk.testService.service.calls.length
    const { stdout } = await desk.docmount('status', join(drive, 'folder'), '--names', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ names: [{ name: 'stored.txt', state: 'stored', here: 'no' }] })
    expect(desk.testService.service.calls).toHaveLength(before)
  })

  test('with --watch tells each change', async () => {
    await desk.testService.other.put('/a.txt', 'a')
    const drive = await desk.mount('drive')
    await inDrive('ls', drive)
    const watching = spawn(process.execPath, [cli, 'status', drive, '--names', '--watch', '--json'], {
      env: desk.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    watching.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const changes = (): FolderChange[] =>
      said
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as FolderChange)
    await waitUntil('the folder to be told', () => changes()[0]?.names[0]?.here === 'no')
    await inDrive('cat', join(drive, 'a.txt'))
    await waitUntil('the change to be told', () => changes().at(-1)?.names[0]?.here === 'cached')
    await desk.docmount('free', join(drive, 'a.txt'))
    await waitUntil('the change to be told', () => changes().at(-1)?.names[0]?.here === 'no')
    const ended = once(watching, 'exit')
    await desk.docmount('unmount', drive)
    expect(await ended).toEqual([0, null])
  })
})
