// The file managers' trash on a mounted drive, by GIO, as Nautilus, Nemo, Caja and Thunar do it.

import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { patternedBytes } from '../support/bytes.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run, type Ran } from '../support/run.ts'

const trash = `.Trash-${process.getuid?.() ?? 0}`
const whyNoGio =
  spawnSync('gio', ['version']).status === 0 ? undefined : 'gio is not installed (libglib2.0-bin)'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

function gio(...args: string[]): Promise<Ran> {
  return run('gio', args, { env: desk.env, mayFail: true })
}

/** Restores a file of the trash as file managers do: moves it to where its .trashinfo says that it was. */
async function restore(drive: string, name: string): Promise<void> {
  const info = join(drive, trash, 'info', `${name}.trashinfo`)
  const { stdout } = await run('cat', [info])
  const path = decodeURIComponent(/^Path=(.*)$/m.exec(stdout)?.[1] ?? '')
  await run('mkdir', ['-p', join(drive, path, '..')])
  await run('gio', ['move', '-T', join(drive, trash, 'files', name), join(drive, path)], { env: desk.env })
  await run('rm', [info])
}

async function inService(): Promise<Record<string, string>> {
  const documents = (await desk.testService.other.documents('/')) ?? []
  return Object.fromEntries([...documents].map(([path, bytes]) => [path, bytes.toString()]))
}

/** Calls to the service that name anything of the trash. */
function told(): readonly string[] {
  return desk.testService.service.calls.map(({ path }) => path).filter((path) => /trash/i.test(path))
}

describe.skipIf(whyNoFuse() !== undefined || whyNoGio !== undefined)('a file manager', () => {
  test('moves a document into the trash and back; the service hears of the document alone', async () => {
    await desk.testService.other.put('/letters/a.txt', 'never read here')
    const drive = await desk.mount('drive')
    expect(await gio('trash', join(drive, 'letters', 'a.txt'))).toMatchObject({ code: 0, stderr: '' })
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({})
    expect((await run('cat', [join(drive, trash, 'files', 'a.txt')])).stdout).toBe('never read here')
    expect((await desk.docmount('status', drive)).stdout).not.toContain(trash)
    // Over a new mount.
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    expect((await desk.docmount('status')).stdout).not.toContain('Trash')
    await desk.mount('drive')
    await restore(drive, 'a.txt')
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({ 'letters/a.txt': 'never read here' })
    expect((await run('ls', ['-A', join(drive, trash, 'files')])).stdout).toBe('')
    expect(told()).toEqual([])
  })

  test('moves a folder with everything in it into the trash and back', async () => {
    for (const name of ['a.txt', 'in/b.pdf', 'in/deep/c.txt'])
      await desk.testService.other.put(`/d/${name}`, name)
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'd', 'contract.signed'), 'undecided')
    expect(await gio('trash', join(drive, 'd'))).toMatchObject({ code: 0, stderr: '' })
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({})
    expect((await run('ls', ['-A', drive])).stdout).toBe(`${trash}\n`)
    await desk.kill(drive)
    await desk.docmount('unmount', drive)
    await desk.mount('drive')
    const files = join(drive, trash, 'files', 'd')
    expect((await run('sh', ['-c', 'cd "$1" && find . -type f | sort', 'sh', files])).stdout).toBe(
      './a.txt\n./contract.signed\n./in/b.pdf\n./in/deep/c.txt\n',
    )
    await restore(drive, 'd')
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({
      'd/a.txt': 'a.txt',
      'd/contract.signed': 'undecided',
      'd/in/b.pdf': 'in/b.pdf',
      'd/in/deep/c.txt': 'in/deep/c.txt',
    })
    expect(told()).toEqual([])
  })

  test('offers to delete for good what is not here and larger than 64 MiB', async () => {
    await desk.testService.other.put('/large.pdf', patternedBytes(65 * 1024 * 1024, 'large'))
    const drive = await desk.mount('drive')
    const { code, stderr } = await gio('trash', join(drive, 'large.pdf'))
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/across filesystem boundaries|not supported/)
    expect((await run('ls', [drive])).stdout).toBe('large.pdf\n')
    expect((await run('ls', ['-A', join(drive, trash, 'files')])).stdout).toBe('')
    await run('cat', [join(drive, 'large.pdf')])
    expect(await gio('trash', join(drive, 'large.pdf'))).toMatchObject({ code: 0, stderr: '' })
  })

  test('empties the trash', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'a')
    await mkdir(join(desk.home, 'd'))
    await run('mkdir', [join(drive, 'd')])
    await desk.save(join(drive, 'd', 'b.txt'), 'b')
    await gio('trash', join(drive, 'a.txt'), join(drive, 'd'))
    await run('rm', ['-r', join(drive, trash)])
    expect((await run('ls', ['-A', drive])).stdout).toBe('')
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({})
    expect(told()).toEqual([])
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    const spools = (await readdir(join(desk.home, '.local/state/docmount'), { recursive: true })).filter(
      (name) => /spool\/.*txt/.test(name),
    )
    expect(spools).toEqual([])
  })

  test('moves a document that was never sent into the trash while the service is away, and back', async () => {
    const drive = await desk.mount('drive', '--undo', '30d', '--close-wait', '0')
    await desk.save(join(drive, 'first.txt'), 'first')
    await desk.docmount('wait', drive)
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'never sent')
    expect(await gio('trash', join(drive, 'a.txt'))).toMatchObject({ code: 0, stderr: '' })
    expect(await gio('trash', join(drive, 'first.txt'))).toMatchObject({ code: 0, stderr: '' })
    await restore(drive, 'a.txt')
    await desk.testService.start()
    await desk.docmount('wait', drive)
    expect(await inService()).toEqual({ 'a.txt': 'never sent' })
    expect(await readFile(join(drive, 'a.txt'), 'utf8')).toBe('never sent')
  })

  test('finds no trash with --undo 0', async () => {
    const drive = await desk.mount('drive', '--undo', '0')
    await desk.save(join(drive, 'a.txt'), 'a')
    const { code, stderr } = await gio('trash', join(drive, 'a.txt'))
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/not support|Unable to (?:find or )?create trash/i)
    expect((await run('ls', ['-A', drive])).stdout).toBe('a.txt\n')
  })
})
