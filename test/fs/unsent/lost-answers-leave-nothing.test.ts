// A save whose answer was lost, at a name that something else only passes through after it: what that save may have put there
// goes all the same.

import { expect, it } from 'vitest'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { serviceTexts } from '../../support/trees.ts'
import { waitUntil } from '../../support/wait-until.ts'

const held = ({ testService }: HeldDrive): Promise<Record<string, string | undefined>> =>
  serviceTexts(testService.other)

it.each<readonly [at: string, given: Readonly<Record<string, string>>]>([
  ['a new name', {}],
  ['the name of an older version', { '/f.txt': 'an older one', '/h.txt': 'an older one' }],
])('what was saved at %s goes', async (_at, given) => {
  await using drive = await openHeld(given)
  const calls = drive.calls()
  await calls.readdir('/')
  const { faults } = drive.testService.service
  for (const path of ['/f.txt', '/h.txt']) faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path })
  await calls.writeFile('/f.txt', 'saved')
  await calls.writeFile('/h.txt', 'moved')
  const isStored = async (path: string): Promise<boolean> =>
    (await drive.testService.other.get(path))?.size === 'saved'.length
  await waitUntil('both to be stored', async () => (await isStored('/f.txt')) && isStored('/h.txt'))
  faults.inject({ kind: 'cut-request', afterBytes: 0 })
  await waitUntil('the service to be away', async () => drive.fileSystem().status().away !== undefined)
  await calls.rename('/h.txt', '/f.txt')
  await calls.rename('/f.txt', '/k.txt')
  faults.clear()
  await drive.drain()
  expect(await held(drive)).toEqual({ '/k.txt': 'moved' })
})

type Calls = ReturnType<HeldDrive['calls']>

it.each<readonly [then: string, (calls: Calls) => Promise<void>, Readonly<Record<string, string>>]>([
  [
    'another is saved there',
    (calls) => calls.writeFile('/f.txt', 'another'),
    { '/f.txt': 'another', '/k.txt': 'saved' },
  ],
  [
    'it comes back with a newer content',
    async (calls) => {
      await calls.writeFile('/k.txt', 'newer')
      await calls.rename('/k.txt', '/f.txt')
    },
    { '/f.txt': 'newer' },
  ],
  [
    'it goes on, comes back, and another takes its place',
    async (calls) => {
      await calls.rename('/k.txt', '/l.txt')
      await calls.rename('/l.txt', '/f.txt')
      await calls.writeFile('/another.txt', 'another')
      await calls.rename('/another.txt', '/f.txt')
    },
    { '/f.txt': 'another' },
  ],
  [
    'it is removed, and another is saved there',
    async (calls) => {
      await calls.unlink('/k.txt')
      await calls.writeFile('/f.txt', 'another')
    },
    { '/f.txt': 'another' },
  ],
  ['it is removed', (calls) => calls.unlink('/k.txt'), {}],
])(
  'what was saved over an older version is ours when it was moved away and %s',
  async (_then, change, wanted) => {
    await using drive = await openHeld({ '/f.txt': 'an older one' })
    const calls = drive.calls()
    await calls.readdir('/')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path: '/f.txt' })
    await calls.writeFile('/f.txt', 'saved')
    const stored = async (): Promise<number | undefined> =>
      (await drive.testService.other.get('/f.txt'))?.size
    await waitUntil('it to be stored', async () => (await stored()) === 'saved'.length)
    faults.inject({ kind: 'cut-request', afterBytes: 0 })
    await waitUntil('the service to be away', async () => drive.fileSystem().status().away !== undefined)
    await calls.rename('/f.txt', '/k.txt')
    await change(calls)
    faults.clear()
    await drive.drain()
    expect(await held(drive)).toEqual(wanted)
  },
)

it('renamed while it is written, replaced there, and written on: what took its place is sent', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const calls = drive.calls()
  drive.hold('/a.txt')
  await calls.writeFile('/a.txt', 'saved')
  await drive.reached('/a.txt')
  const file = await calls.open('/a.txt', 'r+')
  await calls.rename('/a.txt', '/b.txt')
  await file.write('written', 0)
  await calls.writeFile('/.goutputstream-1', 'another')
  await calls.rename('/.goutputstream-1', '/b.txt')
  // The overwritten file has no name any more.
  await file.write('on', 0)
  await file.close()
  drive.release()
  await drive.drain()
  expect(await calls.readdir('/')).toEqual(['b.txt'])
  expect((await drive.testService.other.bytes('/b.txt')).toString()).toBe('another')
})
