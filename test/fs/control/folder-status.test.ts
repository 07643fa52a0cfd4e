// The states of a folder's names: from what is known here, without a call to the service.

import { expect, it } from 'vitest'
import { ErrnoError } from '../../../src/errno-error.ts'
import { folderStatus, nodeStatus } from '../../../src/fs/control/folder-status.ts'
import { watchFolder } from '../../../src/fs/control/watch-folder.ts'
import { free } from '../../../src/fs/pins/free.ts'
import type { FolderChange, NameStatus } from '../../../src/fs/status.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

const never = new AbortController().signal

/** The service says no to what is on its way to this path, for good. */
function refuse({ sb }: OpenParts, path: string): void {
  const job = sb.queue.find(path)
  if (job === undefined) throw new Error(`nothing is on its way to ${path}`)
  sb.queue.refuse(job, new ErrnoError('EINVAL', 'not taken'))
}

/** `name state here` of each name, and the folder's own state. */
function states({ sb }: OpenParts, path: string): Record<string, string> {
  const { own, names } = folderStatus(sb, path)
  const entries = names.map(({ name, state, here }) => [name, `${state} ${here}`])
  return Object.fromEntries([['.', own?.state], ...entries]) as Record<string, string>
}

it('each name has its state, and the folders above have the worst of them', async () => {
  await using parts = await openParts({ '/d/e/given.txt': 'given', '/d/f/other.txt': 'other' })
  const { calls, sb, service } = parts
  for (const path of ['/', '/d', '/d/e', '/d/f']) await calls.readdir(path)
  expect(states(parts, '/')).toEqual({ '.': 'stored', d: 'stored no' })
  await calls.writeFile('/d/.a.txt.swp', 'swap')
  await calls.writeFile('/d/a.signed', 'half')
  await calls.mkdir('/d/empty')
  expect(states(parts, '/')).toEqual({ '.': 'undecided', d: 'undecided no' })
  await calls.writeFile('/d/e/a.txt', 'ours')
  await calls.writeFile('/d/b.txt', 'ours too')
  const file = await calls.open('/d/open.txt', 'w')
  await file.write('open', 0)
  const before = service.service.calls.length
  expect(states(parts, '/d')).toEqual({
    '.': 'waiting',
    e: 'waiting no',
    f: 'stored no',
    'a.signed': 'undecided cached',
    '.a.txt.swp': 'local cached',
    'b.txt': 'waiting cached',
    'open.txt': 'waiting cached',
    empty: 'local no',
  })
  expect(states(parts, '/d/e')).toEqual({
    '.': 'waiting',
    'a.txt': 'waiting cached',
    'given.txt': 'stored no',
  })
  refuse(parts, '/d/e/a.txt')
  expect(folderStatus(sb, '/').names).toMatchObject([
    { name: 'd', state: 'refused', problem: 'not taken', bytesToSend: 12, sentBytes: 0 },
  ])
  const node = sb.tree.find('/d/e')
  if (node !== undefined) expect(nodeStatus(sb, node)).toEqual(folderStatus(sb, '/d/e').own)
  expect(service.service.calls).toHaveLength(before)
  await file.close()
})

it('a delete that waits is its folder’s, and a name that begins alike is none of it', async () => {
  await using parts = await openParts({ '/d/given.txt': 'given', '/da/given.txt': 'given' })
  const { calls } = parts
  for (const path of ['/', '/d', '/da']) await calls.readdir(path)
  await calls.unlink('/d/given.txt')
  expect(states(parts, '/')).toEqual({ '.': 'waiting', d: 'waiting no', da: 'stored no' })
  expect(states(parts, '/d')).toEqual({ '.': 'waiting' })
})

it('a document and the copy of another version are in conflict until the copy is gone', async () => {
  await using parts = await openParts({ '/d/a.txt': 'ours', '/d/a (conflict).txt': 'theirs' })
  const { calls, sb } = parts
  await calls.readdir('/d')
  sb.conflicts.kept('/d/a.txt', '/d/a (conflict).txt')
  expect(folderStatus(sb, '/d')).toMatchObject({
    own: { state: 'conflict' },
    names: [
      { name: 'a (conflict).txt', state: 'conflict', problem: 'another version of a.txt' },
      { name: 'a.txt', state: 'conflict', problem: 'another version is kept as a (conflict).txt' },
    ],
  })
  sb.queue.goOn()
  await calls.unlink('/d/a (conflict).txt')
  await expect.poll(() => [...sb.queue.jobs()].length).toBe(0)
  sb.tree.askAgain(sb.tree.find('/d') as never)
  await calls.readdir('/d')
  expect(states(parts, '/d')).toEqual({ '.': 'stored', 'a.txt': 'stored no' })
})

it('tells what is here: read, pinned, and freed again', async () => {
  const large = 'x'.repeat(5_000_000)
  await using parts = await openParts({ '/d/a.txt': 'given', '/d/empty.txt': '', '/d/large.txt': large })
  const { calls, sb, operations } = parts
  await calls.readdir('/d')
  expect(states(parts, '/d')).toEqual({
    '.': 'stored',
    'a.txt': 'stored no',
    'empty.txt': 'stored cached',
    'large.txt': 'stored no',
  })
  await calls.readFile('/d/a.txt')
  const file = await calls.open('/d/large.txt', 'r')
  await file.read(4096, 0)
  await file.close()
  const here = (): string[] => folderStatus(sb, '/d').names.map((each) => each.here)
  await expect.poll(here).toEqual(['cached', 'cached', 'partly'])
  await operations.pin('/d', { signal: never })
  expect(folderStatus(sb, '/d').names.every(({ isPinned }) => isPinned)).toBe(true)
  await expect.poll(here).toEqual(['pinned', 'pinned', 'pinned'])
  await expect.poll(() => folderStatus(sb, '/').names[0]).toMatchObject({ name: 'd', here: 'pinned' })
  await expect(free(sb, '/d/a.txt', never)).rejects.toMatchObject({ code: 'EBUSY' })
  expect(await free(sb, '/d', never)).toEqual({ documents: 2 })
  expect(here()).toEqual(['no', 'cached', 'no'])
  expect(folderStatus(sb, '/d').own).toMatchObject({ here: 'no', isPinned: false })
})

it('of one document and of what is not there', async () => {
  await using parts = await openParts({ '/d/a.txt': 'given' })
  const { calls, sb } = parts
  expect(folderStatus(sb, '/d')).toMatchObject({ names: [], isListed: false })
  await calls.readdir('/d')
  expect(folderStatus(sb, '/d/a.txt')).toMatchObject({ own: { name: 'a.txt', state: 'stored' }, names: [] })
  expect(folderStatus(sb, '/d/none.txt').own).toBeUndefined()
  expect(folderStatus(sb, '/none/none.txt').own).toBeUndefined()
  await calls.unlink('/d/a.txt')
  expect(folderStatus(sb, '/d/a.txt').own).toBeUndefined()
})

it('who watches hears of each change, and of nothing else', async () => {
  await using parts = await openParts({ '/d/a.txt': 'given', '/d/b.txt': 'given' })
  const { calls, sb } = parts
  await calls.readdir('/d')
  const changes: FolderChange[] = []
  const over = new AbortController()
  const watching = watchFolder(sb, '/d', { signal: over.signal, onChange: (change) => changes.push(change) })
  await expect.poll(() => changes.length).toBe(1)
  const names = (change: FolderChange | undefined): string[] =>
    (change?.names ?? []).map(({ name, state }: NameStatus) => `${name} ${state}`)
  expect(names(changes[0])).toEqual(['a.txt stored', 'b.txt stored'])
  await calls.writeFile('/d/b.txt', 'ours')
  await expect.poll(() => names(changes[1])).toEqual(['b.txt waiting'])
  sb.queue.goOn()
  await expect.poll(() => names(changes.at(-1))).toEqual(['b.txt stored'])
  await calls.unlink('/d/a.txt')
  await expect.poll(() => changes.at(-1)?.gone).toEqual(['a.txt'])
  over.abort()
  await watching
})
