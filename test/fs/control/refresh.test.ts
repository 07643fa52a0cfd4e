// Refresh: the next look at a path shows it as it is now in the service.

import { expect, it } from 'vitest'
import { drain } from '../../../src/fs/control/control.ts'
import { silentNotifier } from '../../../src/fs/operations.ts'
import { refresh } from '../../../src/fs/control/refresh.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

async function sent({ sb }: OpenParts): Promise<void> {
  sb.queue.goOn()
  expect(await drain(sb, { timeoutMs: 20_000 })).toEqual([])
}

it('is what another client has made of it meanwhile, and was not before', async () => {
  await using parts = await openParts({ '/a.txt': 'a', '/d/b.txt': 'b' })
  const names = async (): Promise<string[][]> =>
    Promise.all(['/', '/d'].map(async (folder) => (await parts.calls.readdir(folder)).sort()))
  const before = await names()
  await parts.service.other.put('/d/c.txt', 'c')
  await parts.service.other.delete('/a.txt')
  expect(await names()).toEqual(before)
  await refresh(parts.sb, '/d')
  expect(await names()).toEqual([['a.txt', 'd'], ['b.txt', 'c.txt']])
  await refresh(parts.sb, '/')
  expect(await names()).toEqual([['d'], ['b.txt', 'c.txt']])
}) // prettier-ignore

it('is shown by the door when it is answered', async () => {
  await using parts = await openParts({ '/a.txt': 'a' })
  let hear = (): void => {}
  const heard = new Promise<void>((resolve) => (hear = resolve))
  parts.sb.tree.notifier = { ...silentNotifier, heard: () => heard }
  let isAnswered = false
  const answered = refresh(parts.sb, '/').then(() => (isAnswered = true))
  await parts.calls.readdir('/')
  expect(isAnswered).toBe(false)
  hear()
  await answered
})

it('is what is unsent, as it was', async () => {
  await using parts = await openParts({ '/given.txt': 'given' })
  await parts.calls.writeFile('/a.txt', 'ours')
  await parts.calls.unlink('/given.txt')
  await refresh(parts.sb, '/')
  expect(await parts.calls.readdir('/')).toEqual(['a.txt'])
  expect((await parts.calls.readFile('/a.txt')).toString()).toBe('ours')
})

it('is nothing where another client has just deleted what was saved here', async () => {
  await using parts = await openParts()
  await parts.calls.writeFile('/a.txt', 'ours')
  await sent(parts)
  await parts.service.other.delete('/a.txt')
  await parts.sb.tree.loadFresh(parts.sb.tree.nodes.root)
  // A listing alone may lag behind.
  expect(await parts.calls.readdir('/')).toEqual(['a.txt'])
  await refresh(parts.sb, '/a.txt')
  expect(await parts.calls.readdir('/')).toEqual([])
})

it('is another client’s version where it has just replaced what was saved here', async () => {
  await using parts = await openParts()
  await parts.calls.writeFile('/a.txt', 'ours')
  await sent(parts)
  await parts.service.other.put('/a.txt', 'theirs, and longer')
  await refresh(parts.sb, '/a.txt')
  expect((await parts.calls.readFile('/a.txt')).toString()).toBe('theirs, and longer')
})

it('of a path that nobody knows is the root', async () => {
  await using parts = await openParts()
  await parts.calls.readdir('/')
  await parts.service.other.put('/d/e/a.txt', 'theirs')
  await refresh(parts.sb, '/d/e/a.txt')
  expect(await parts.calls.readdir('/')).toEqual(['d'])
})
