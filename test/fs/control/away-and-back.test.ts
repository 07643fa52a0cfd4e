// The service goes and comes back: what waits, and what the person hears.

import { expect, it } from 'vitest'
import { openParts } from '../../support/open-parts.ts'

it('what was saved while it was away arrives when it is back, and that is told', async () => {
  await using parts = await openParts()
  const { sb, notices } = parts
  sb.queue.goOn()
  await parts.service.stop()
  await parts.calls.writeFile('/a.txt', 'ours')
  await expect.poll(() => notices.map(({ kind }) => kind)).toEqual(['away'])
  await parts.service.start()
  sb.reach.probeNow()
  await expect.poll(() => notices.map(({ kind }) => kind)).toEqual(['away', 'back', 'done'])
  expect((await parts.service.other.bytes('/a.txt')).toString()).toBe('ours')
})

it('nothing waited: nothing has arrived, and what was shown of old is asked for anew', async () => {
  await using parts = await openParts({ '/given.txt': 'given' }, { cacheTtlMs: 0 })
  const { sb, notices } = parts
  await parts.calls.readdir('/')
  await parts.service.stop()
  sb.reach.doubt()
  await expect.poll(() => sb.reach.isAway).toBe(true)
  expect(await parts.calls.readdir('/')).toEqual(['given.txt'])
  await parts.service.start()
  await parts.service.other.put('/theirs.txt', 'theirs')
  sb.reach.probeNow()
  await expect.poll(() => notices.map(({ kind }) => kind)).toEqual(['away', 'back'])
  // The folder is not looked at: the test asks memory alone.
  const listed = (): string[] => [...(sb.tree.listings.known(sb.tree.nodes.root)?.names.keys() ?? [])]
  await expect.poll(listed).toContain('theirs.txt')
})

it('a doubt that was none is told nobody, and stops nothing', async () => {
  await using parts = await openParts()
  const { sb, notices } = parts
  sb.queue.goOn()
  sb.reach.doubt()
  await sb.reach.decided()
  await parts.calls.writeFile('/a.txt', 'ours')
  await expect.poll(() => [...sb.queue.jobs()].length).toBe(0)
  expect([sb.reach.state, notices]).toEqual(['reachable', []])
})
