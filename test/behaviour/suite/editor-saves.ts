// How programs save a document, call by call, as recorded from the real ones. Each is one replace in the service, and
// no dropping ever gets there.

import { expect } from 'vitest'

import type { Door, OpenMode } from '../../support/door.ts'
import type { Case, Topic } from '../topic.ts'

/** DELETE and PUT once each, and at most one look before. */
const oneReplace = { PUT: 1, DELETE: 1, apiAtMost: 3 } as const

async function save(
  door: Door,
  path: string,
  content: string,
  options: { sync?: boolean; flags?: OpenMode } = {},
): Promise<void> {
  const file = await door.open(path, options.flags ?? 'w')
  await file.write(content, 0)
  if (options.sync === true) await file.sync()
  await file.close()
}

/** An editor has the document open and listed: what it does next is counted. */
async function openInEditor({ door, folder, at }: Case, name: string): Promise<void> {
  await door.readdir(folder)
  await door.readFile(at(name))
  door.behind.clearCalls()
}

export const editorSaves: Topic = (it) => {
  it('GIO (gedit, mousepad): temporary file, fsync, rename over', { 'a.txt': 'old' }, async (test) => {
    const { door, folder, at } = test
    await openInEditor(test, 'a.txt')
    const probe = await door.open(at('a.txt'), 'r+')
    await save(door, at('.goutputstream-X7A2K3'), 'new', { sync: true })
    await door.chmod(at('.goutputstream-X7A2K3'), 0o644)
    await probe.close()
    await door.rename(at('.goutputstream-X7A2K3'), at('a.txt'))
    await door.behind.waitFor(folder, { 'a.txt': 'new' })
    door.behind.expectCalls(folder, oneReplace)
    expect(await door.readdir(folder)).toEqual(['a.txt'])
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    door.behind.expectUploads(folder, ['a.txt'])
  })

  it('LibreOffice: lock, luNNNN.tmp, rename over, open again, fsync', { 'a.xlsx': 'old' }, async (test) => {
    const { door, folder, at } = test
    const lock = at('.~lock.a.xlsx#')
    await openInEditor(test, 'a.xlsx')
    const opened = await door.open(at('a.xlsx'), 'r+')
    await save(door, lock, ',user,host,today;')
    await save(door, at('lu1234abcd.tmp'), 'new')
    await opened.close()
    await door.rename(at('lu1234abcd.tmp'), at('a.xlsx'))
    await door.chmod(at('a.xlsx'), 0o644)
    const again = await door.open(at('a.xlsx'), 'r+')
    await again.sync()
    await again.close()
    await door.unlink(lock)
    await door.behind.waitFor(folder, { 'a.xlsx': 'new' })
    door.behind.expectCalls(folder, oneReplace)
    expect(await door.readdir(folder)).toEqual(['a.xlsx'])
    expect((await door.readFile(at('a.xlsx'))).toString()).toBe('new')
    door.behind.expectUploads(folder, ['a.xlsx'])
  })

  it('KDE: .part, unlink, rename', { 'a.txt': 'old' }, async (test) => {
    const { door, folder, at } = test
    await openInEditor(test, 'a.txt')
    await save(door, at('a.txt.part'), 'new')
    await door.utimes(at('a.txt.part'), 1_700_000_000, 1_700_000_000)
    await door.unlink(at('a.txt'))
    await door.rename(at('a.txt.part'), at('a.txt'))
    await door.behind.waitFor(folder, { 'a.txt': 'new' })
    door.behind.expectCalls(folder, oneReplace)
    expect(await door.readdir(folder)).toEqual(['a.txt'])
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(1_700_000_000_000_000_000n)
    door.behind.expectUploads(folder, ['a.txt'])
  })

  it(
    'vim: swap file, probe, backup by rename, new file, backup deleted',
    { 'a.txt': 'old' },
    async (test) => {
      const { door, folder, at } = test
      await openInEditor(test, 'a.txt')
      await save(door, at('.a.txt.swp'), 'swap', { flags: 'wx' })
      await save(door, at('4913'), '', { flags: 'wx' })
      await door.unlink(at('4913'))
      await door.rename(at('a.txt'), at('a.txt~'))
      await save(door, at('a.txt'), 'new', { sync: true })
      await door.chmod(at('a.txt'), 0o644)
      await door.unlink(at('a.txt~'))
      await door.unlink(at('.a.txt.swp'))
      await door.behind.waitFor(folder, { 'a.txt': 'new' })
      door.behind.expectCalls(folder, oneReplace)
      expect(await door.readdir(folder)).toEqual(['a.txt'])
      expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
      door.behind.expectUploads(folder, ['a.txt'])
    },
  )

  it('emacs: backup by rename that stays, new file', { 'a.txt': 'old' }, async (test) => {
    const { door, folder, at } = test
    await openInEditor(test, 'a.txt')
    await save(door, at('#a.txt#'), 'autosave')
    await door.rename(at('a.txt'), at('a.txt~'))
    await save(door, at('a.txt'), 'new', { sync: true })
    await door.unlink(at('#a.txt#'))
    await door.behind.waitFor(folder, { 'a.txt': 'new' })
    door.behind.expectCalls(folder, { PUT: 1, DELETE: 1, apiAtMost: 3 })
    expect((await door.readdir(folder)).sort()).toEqual(['a.txt', 'a.txt~'])
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    expect((await door.readFile(at('a.txt~'))).toString()).toBe('old')
    door.behind.expectUploads(folder, ['a.txt'])
    test.staysHere('a.txt~')
  })

  it('nano: open in place, truncate, write, fsync', { 'a.txt': 'old' }, async (test) => {
    const { door, folder, at } = test
    await openInEditor(test, 'a.txt')
    await save(door, at('.a.txt.swp'), 'swap')
    await save(door, at('a.txt'), 'new', { sync: true })
    await door.unlink(at('.a.txt.swp'))
    await door.behind.waitFor(folder, { 'a.txt': 'new' })
    door.behind.expectCalls(folder, oneReplace)
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    door.behind.expectUploads(folder, ['a.txt'])
  })

  it('GIO with backup: rename to the backup, rename the new one in', { 'a.txt': 'old' }, async (test) => {
    const { door, folder, at } = test
    await openInEditor(test, 'a.txt')
    await save(door, at('.goutputstream-B1C2D3'), 'new', { sync: true })
    await door.rename(at('a.txt'), at('a.txt~'))
    await door.rename(at('.goutputstream-B1C2D3'), at('a.txt'))
    await door.behind.waitFor(folder, { 'a.txt': 'new' })
    door.behind.expectCalls(folder, oneReplace)
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    expect((await door.readFile(at('a.txt~'))).toString()).toBe('old')
    test.staysHere('a.txt~')
  })

  it('browsers: empty placeholder, .part, rename over it', async (test) => {
    const { door, folder, at } = test
    await door.readdir(folder)
    door.behind.clearCalls()
    await save(door, at('download.pdf'), '')
    await save(door, at('download.pdf.part'), 'the whole download')
    await door.rename(at('download.pdf.part'), at('download.pdf'))
    await door.behind.waitFor(folder, { 'download.pdf': 'the whole download' })
    expect(await door.readdir(folder)).toEqual(['download.pdf'])
    door.behind.expectUploads(folder, ['download.pdf'])
  })

  it(
    'MS Office: names without an extension, document to temporary, temporary to document',
    { 'a.xlsx': 'old' },
    async (test) => {
      const { door, folder, at } = test
      await openInEditor(test, 'a.xlsx')
      await save(door, at('~$a.xlsx'), 'owner')
      await save(door, at('5A3B19C0.tmp'), 'new')
      await door.rename(at('a.xlsx'), at('7F2E8D41.tmp'))
      await door.rename(at('5A3B19C0.tmp'), at('a.xlsx'))
      await door.unlink(at('7F2E8D41.tmp'))
      await door.unlink(at('~$a.xlsx'))
      await door.behind.waitFor(folder, { 'a.xlsx': 'new' })
      door.behind.expectCalls(folder, oneReplace)
      expect(await door.readdir(folder)).toEqual(['a.xlsx'])
      expect((await door.readFile(at('a.xlsx'))).toString()).toBe('new')
      door.behind.expectUploads(folder, ['a.xlsx'])
    },
  )
}
