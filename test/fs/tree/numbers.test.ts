// Node numbers outlive nodes, and places in a listing outlive changes of it.

import { describe, expect, it } from 'vitest'

import { rootIno, type Caller, type Entry } from '../../../src/fs/operations.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const caller: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }

/** As the kernel looks a name up, and forgets it again. */
async function numberOf(drive: HeldDrive, parent: number, name: string): Promise<number> {
  const fileSystem = drive.fileSystem()
  const { attributes } = await fileSystem.lookup(parent, name, caller)
  if (attributes === undefined) throw new Error(`no ${name}`)
  fileSystem.forget(attributes.ino, 1)
  return attributes.ino
}

async function found(drive: HeldDrive, ino: number, name: '.' | '..'): Promise<number> {
  const entry = (await drive.fileSystem().lookup(ino, name, caller)) as Entry
  drive.fileSystem().forget(entry.attributes.ino, 1)
  return entry.attributes.ino
}

describe('a node that was forgotten', () => {
  it('is found again by its number, and so is the folder it is in', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    const { attributes } = await drive.fileSystem().lookup(rootIno, 'd', caller)
    const folder = attributes?.ino ?? 0
    const file = await numberOf(drive, folder, 'a.txt')
    drive.fileSystem().forget(folder, 1)
    await drive.fileSystem().refresh('/')
    expect(await found(drive, file, '.')).toBe(file)
    expect(await found(drive, file, '..')).toBe(folder)
    expect(await found(drive, folder, '.')).toBe(folder)
    expect(await found(drive, rootIno, '.')).toBe(rootIno)
  })

  it('has its number again when it is looked up by its name', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const before = await numberOf(drive, rootIno, 'a.txt')
    expect(await numberOf(drive, rootIno, 'a.txt')).toBe(before)
  })

  it('is ESTALE once something else is at its place', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const before = await numberOf(drive, rootIno, 'a.txt')
    await drive.calls().unlink('/a.txt')
    await drive.calls().writeFile('/a.txt', 'another')
    await expect(found(drive, before, '.')).rejects.toMatchObject({ code: 'ESTALE' })
    await expect(found(drive, 12_345, '.')).rejects.toMatchObject({ code: 'ESTALE' })
  })

  it('is ESTALE once another client has removed it', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const before = await numberOf(drive, rootIno, 'a.txt')
    await drive.testService.other.delete('/a.txt')
    await drive.fileSystem().refresh('/')
    await expect(found(drive, before, '.')).rejects.toMatchObject({ code: 'ESTALE' })
  })
})

describe('a place in a listing', () => {
  /** Names with their places, from a place on. */
  async function readFrom(drive: HeldDrive, fh: number, place: number): Promise<[string, number][]> {
    const entries: [string, number][] = []
    const filler = ({ name }: { name: string }, next: number): boolean => entries.push([name, next]) > 0
    await drive.fileSystem().readdir(fh, place, filler, caller)
    return entries
  }

  it('is the same name’s while others come and go, for every handle', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}.txt`)
    await using drive = await openHeld(Object.fromEntries(names.map((name) => [`/d/${name}`, name])))
    const { ino } = (await drive.calls().stat('/d')) as { ino: number }
    const { fh } = await drive.fileSystem().opendir(ino, caller)
    const told = await readFrom(drive, fh, 0)
    for (const name of names.slice(0, 10)) await drive.calls().unlink(`/d/${name}`)
    await drive.calls().writeFile('/d/a-new-one.txt', 'new')
    await readFrom(drive, fh, 0)
    const other = await drive.fileSystem().opendir(ino, caller)
    await readFrom(drive, other.fh, 0)
    for (const [index, [, place]] of told.entries()) {
      const next = told.slice(index + 1).find(([name]) => !names.slice(0, 10).includes(name))
      const [first] = await readFrom(drive, fh, place)
      expect(first?.[0]).toBe(next?.[0] ?? 'a-new-one.txt')
      expect((await readFrom(drive, other.fh, place))[0]).toEqual(first)
    }
    drive.fileSystem().releasedir(fh)
    drive.fileSystem().releasedir(other.fh)
    await waitUntil('everything to be sent', () => drive.fileSystem().status().unsent.length === 0)
  })
})
