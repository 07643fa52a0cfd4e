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
  await using parts = await openParts({ '/folder/given.txt': 'given' }, { cacheTtlMs: 0 })
  const { sb, notices } = parts
  await parts.calls.readdir('/folder')
  await parts.service.stop()
  sb.reach.doubt()
  await expect.poll(() => sb.reach.isAway).toBe(true)
  expect(await parts.calls.readdir('/folder')).toEqual(['given.txt'])
  await parts.service.start()
  sb.reach.probeNow()
  await expect.poll(() => notices.map(({ kind }) => kind)).toEqual(['away', 'back'])
  // Calls of the service that was started again. The folder is not looked at, and a probe asks for the root.
  await expect.poll(() => parts.service.service.calls.map(({ path }) => path)).toContain('/folder')
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
