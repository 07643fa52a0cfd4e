// A document that is renamed while a program writes it is sent by its close. Until then nothing else waits for a close that may be
// long in coming, or that comes to another name.

import { expect, it } from 'vitest'
import type { Calls } from '../../support/door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'

type Documents = Readonly<Record<string, string>>

async function stored({ testService }: HeldDrive): Promise<Documents> {
  const documents = (await testService.other.documents('/')) ?? new Map<string, Buffer>()
  return Object.fromEntries([...documents].map(([name, bytes]) => [`/${name}`, bytes.toString()]))
}

/** Puts a document at a path as an editor does, whatever has that name. */
async function replace(calls: Calls, path: string): Promise<void> {
  await calls.writeFile('/.goutputstream-1', 'another')
  await calls.rename('/.goutputstream-1', path)
}

function renamed(...renames: readonly (readonly [from: string, to: string])[]): Case['names'] {
  return async (calls) => {
    for (const [from, to] of renames) await calls.rename(from, to)
  }
}

/** Renamed, and a new document saved where it was: that waits for the rename. */
async function follow(calls: Calls): Promise<void> {
  await calls.rename('/a.txt', '/b.txt')
  await calls.writeFile('/a.txt', 'new')
}

interface Case {
  readonly what: string
  readonly given?: Documents
  /** While `/a.txt`, or else `/d/a.txt`, is open: it was emptied, and nothing is written yet. */
  readonly names: (calls: Calls) => Promise<void>
  /** Once it was written and closed. */
  readonly sent: Documents
}

const cases: readonly Case[] = [
  {
    what: 'twice, with a new one between',
    names: async (calls) => {
      await follow(calls)
      await calls.rename('/b.txt', '/c.txt')
    },
    sent: { '/a.txt': 'new', '/c.txt': 'written' },
  },
  {
    what: 'twice, over an unsent save',
    names: async (calls) => {
      await calls.writeFile('/c.txt', 'saved')
      await follow(calls)
      await calls.rename('/b.txt', '/c.txt')
    },
    sent: { '/a.txt': 'new', '/c.txt': 'written' },
  },
  {
    what: 'twice, and replaced',
    names: async (calls) => {
      await follow(calls)
      await calls.rename('/b.txt', '/c.txt')
      await replace(calls, '/c.txt')
    },
    sent: { '/a.txt': 'new', '/c.txt': 'another' },
  },
  {
    what: 'twice, and deleted',
    names: async (calls) => {
      await follow(calls)
      await calls.rename('/b.txt', '/c.txt')
      await calls.unlink('/c.txt')
    },
    sent: { '/a.txt': 'new' },
  },
  {
    what: 'thrice, and back by one',
    names: async (calls) => {
      await follow(calls)
      await calls.rename('/b.txt', '/c.txt')
      await calls.rename('/c.txt', '/b.txt')
    },
    sent: { '/a.txt': 'new', '/b.txt': 'written' },
  },
  {
    what: 'there and back',
    names: renamed(['/a.txt', '/b.txt'], ['/b.txt', '/a.txt']),
    sent: { '/a.txt': 'written' },
  },
  {
    what: 'with its folder, twice',
    given: { '/d/a.txt': 'a' },
    names: renamed(['/d', '/e'], ['/e', '/f']),
    sent: { '/f/a.txt': 'written' },
  },
  {
    what: 'with its folder, and back',
    given: { '/d/a.txt': 'a' },
    names: renamed(['/d', '/e'], ['/e', '/d']),
    sent: { '/d/a.txt': 'written' },
  },
  {
    what: 'with its folder, and out',
    given: { '/d/a.txt': 'a' },
    names: renamed(['/d', '/e'], ['/e/a.txt', '/a.txt']),
    sent: { '/a.txt': 'written' },
  },
]

it.each(cases)('$what: all is sent', async ({ given = { '/a.txt': 'a' }, names, sent }) => {
  await using drive = await openHeld(given)
  const calls = drive.calls()
  const [path = ''] = Object.keys(given)
  const file = await calls.open(path, 'w')
  await names(calls)
  await file.write('written', 0)
  await file.close()
  await drive.drain()
  expect(await stored(drive)).toEqual(sent)
})

it.each(cases)('$what, and killed: what was there before is at its name', async (each) => {
  const { given = { '/a.txt': 'a' }, names, sent } = each
  await using drive = await openHeld(given)
  const calls = drive.calls()
  const [path = ''] = Object.keys(given)
  await calls.chmod(path, 0o600)
  const file = await calls.open(path, 'w')
  await names(calls)
  await file.write('written', 0)
  await drive.restartKilled()
  await drive.drain()
  const before = Object.entries(sent).map(([at, content]) => [at, content === 'written' ? 'a' : content])
  expect(await stored(drive)).toEqual(Object.fromEntries(before))
  for (const [at, content] of before) {
    expect((await drive.calls().readFile(at ?? '')).toString()).toBe(content)
    if (content === 'a') expect((await drive.calls().stat(at ?? '')).mode).toBe(0o600)
  }
})

it('what is saved where it was does not wait for its close', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const file = await drive.calls().open('/a.txt', 'w')
  await follow(drive.calls())
  await drive.drain()
  expect(await stored(drive)).toEqual({ '/a.txt': 'new', '/b.txt': 'a' })
  await file.write('written', 0)
  await file.close()
  await drive.drain()
  expect(await stored(drive)).toEqual({ '/a.txt': 'new', '/b.txt': 'written' })
})

it('nor does a folder that it was moved out of, and that is removed', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  const calls = drive.calls()
  const file = await calls.open('/d/a.txt', 'w')
  await calls.rename('/d/a.txt', '/a.txt')
  await calls.rmdir('/d')
  await file.write('written', 0)
  await file.close()
  await drive.drain()
  expect(await stored(drive)).toEqual({ '/a.txt': 'written' })
  expect(await calls.readdir('/')).toEqual(['a.txt'])
})
