// This machine's disk is full: what is only cached makes room, and what was refused is done again; else the person is told.

import { readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Notice } from '../../../src/fs/notice.ts'
import { withFullDisk } from '../../../src/fs/wrappers/full-disk.ts'
import { systemDisk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

interface FullDrive extends AsyncDisposable {
  readonly parts: OpenParts
  readonly calls: Calls
  readonly told: Notice[]
  /** How often room was asked for. */
  asked: number
}

/** The spool's disk takes nothing before room was made for it so often; there is room to make `givable` times. */
async function fullDrive(needed: number, givable: number): Promise<FullDrive> {
  const refuse = (fd: number): void => {
    if (drive.asked < needed && readlinkSync(`/proc/self/fd/${fd}`).includes('/spool/'))
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  const disk = {
    ...systemDisk,
    writeSync(...call: Parameters<typeof systemDisk.writeSync>) {
      refuse(call[0])
      return systemDisk.writeSync(...call)
    },
    async write(...call: Parameters<typeof systemDisk.write>) {
      refuse(call[0])
      return systemDisk.write(...call)
    },
  }
  const parts = await openParts({ '/given.txt': 'given' }, { world: { ...realWorld(), disk } })
  const told: Notice[] = []
  const makeRoom = async (): Promise<boolean> => drive.asked < givable && ++drive.asked > 0
  const operations = withFullDisk(parts.operations, { makeRoom, tell: (notice) => void told.push(notice) })
  const drive: FullDrive = {
    parts,
    calls: objectDoor(operations),
    told,
    asked: 0,
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  }
  return drive
}

const large = 'x'.repeat(100_000)

describe('on a full disk', () => {
  it.each([
    ['small', 'small', 1],
    ['large', large, 1],
    ['small, after a second try', 'small', 2],
  ])(
    'what is written (%s) is kept when there is room for it, and nobody is told',
    async (_title, content, needed) => {
      await using drive = await fullDrive(needed, 3)
      await drive.calls.writeFile('/a.txt', content)
      expect((await drive.calls.readFile('/a.txt')).toString()).toBe(content)
      expect([drive.asked, drive.told]).toEqual([needed, []])
    },
  )

  it('a program and the person are told where there is none to make', async () => {
    await using drive = await fullDrive(3, 2)
    await expect(drive.calls.writeFile('/a.txt', 'ours')).rejects.toMatchObject({ code: 'ENOSPC' })
    expect([drive.asked, drive.told]).toEqual([2, [{ kind: 'diskFull' }]])
  })

  it('what fails for another reason makes no room', async () => {
    await using drive = await fullDrive(1, 3)
    await expect(drive.calls.mkdir('/given.txt')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(drive.calls.unlink('/none.txt')).rejects.toMatchObject({ code: 'ENOENT' })
    expect([drive.asked, drive.told]).toEqual([0, []])
  })
})
