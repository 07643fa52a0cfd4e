// A document that is being written, and that nothing was ever sent of, is renamed over one whose save is still to be sent: until
// its close there is nothing in the queue but that older save. The version it leaves at the name goes with the newer one
// all the same.

import { describe, expect, it } from 'vitest'
import type { Calls, OpenFile } from '../../support/door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** The newer one stands at `/f.txt`, open: in front of what was saved there before. */
async function renamedOver(drive: HeldDrive, hold: 'hold' | 'holdAnswer'): Promise<OpenFile> {
  const calls = drive.calls()
  await calls.readdir('/')
  drive[hold]('/f.txt')
  await calls.writeFile('/f.txt', 'older')
  await drive.reached('/f.txt')
  const file = await calls.open('/n.txt', 'w')
  await calls.rename('/n.txt', '/f.txt')
  return file
}

async function stored(drive: HeldDrive): Promise<Record<string, string>> {
  await drive.drain()
  const documents = await drive.testService.other.documents('/')
  return Object.fromEntries([...(documents ?? [])].map(([name, bytes]) => [name, bytes.toString()]))
}

interface Way {
  readonly way: string
  readonly hold: 'hold' | 'holdAnswer'
  readonly isThrough?: boolean
  readonly given?: Readonly<Record<string, string>>
}

const ways: readonly Way[] = [
  { way: 'on its way', hold: 'hold' },
  { way: 'arriving', hold: 'holdAnswer' },
  { way: 'stored by then', hold: 'hold', isThrough: true },
  { way: 'stored by then over one before', hold: 'hold', isThrough: true, given: { '/f.txt': 'oldest' } },
]

describe.each(ways)('while the older save is $way', ({ hold, isThrough = false, given = {} }) => {
  async function begun(drive: HeldDrive): Promise<[Calls, OpenFile]> {
    const file = await renamedOver(drive, hold)
    if (!isThrough) return [drive.calls(), file]
    drive.release()
    const isThere = async (): Promise<boolean> =>
      (await drive.testService.other.get('/f.txt'))?.size === 'older'.length
    await waitUntil('the older save to be through', isThere)
    await waitUntil('its answer', () =>
      drive
        .fileSystem()
        .unsent('/')
        .every(({ state }) => state !== 'sending'),
    )
    return [drive.calls(), file]
  }

  it('the newer one is deleted', async () => {
    await using drive = await openHeld(given)
    const [calls, file] = await begun(drive)
    await calls.unlink('/f.txt')
    drive.release()
    await file.close()
    expect(await stored(drive)).toEqual({})
    expect(await calls.readdir('/')).toEqual([])
  })

  it.each([
    ['on', {}],
    ['over another', { '/g.txt': 'other' }],
  ])('the newer one is renamed %s', async (_where, others) => {
    await using drive = await openHeld({ ...given, ...others })
    const [calls, file] = await begun(drive)
    await calls.rename('/f.txt', '/g.txt')
    drive.release()
    await file.write(Buffer.from('newer'), 0)
    await file.close()
    expect(await stored(drive)).toEqual({ 'g.txt': 'newer' })
    expect(await calls.readdir('/')).toEqual(['g.txt'])
  })

  it('the newer one is hidden, as libfuse 2 hides what is deleted while it is open', async () => {
    await using drive = await openHeld(given)
    const [calls, file] = await begun(drive)
    await calls.rename('/f.txt', '/.fuse_hidden0000000100000001')
    drive.release()
    await file.close()
    await calls.unlink('/.fuse_hidden0000000100000001')
    expect(await stored(drive)).toEqual({})
    expect(await calls.readdir('/')).toEqual([])
  })

  it('the newer one is closed', async () => {
    await using drive = await openHeld(given)
    const [calls, file] = await begun(drive)
    await file.write(Buffer.from('newer'), 0)
    await file.close()
    drive.release()
    expect(await stored(drive)).toEqual({ 'f.txt': 'newer' })
    expect(await calls.readdir('/')).toEqual(['f.txt'])
  })

  it('the newer one is replaced', async () => {
    await using drive = await openHeld(given)
    const [calls, file] = await begun(drive)
    await calls.writeFile('/k.txt', 'newest')
    await calls.rename('/k.txt', '/f.txt')
    await file.close()
    drive.release()
    expect(await stored(drive)).toEqual({ 'f.txt': 'newest' })
    expect(await calls.readdir('/')).toEqual(['f.txt'])
  })
})
