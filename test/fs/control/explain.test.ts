// Explanations of paths: the rule by which each shows, and what holds each change.

import { expect, it } from 'vitest'
import { ErrnoError } from '../../../src/errno-error.ts'
import { explanationLines } from '../../../src/cli/run-explain.ts'
import { explain } from '../../../src/fs/control/explain.ts'
import { openParts } from '../../support/open-parts.ts'
import { waitUntil } from '../../support/wait-until.ts'

it('tells by which rule a path shows, from before a change to after its listing', async () => {
  await using parts = await openParts({ '/d/given.txt': 'given' })
  const rule = async (path: string): Promise<string> => {
    const { shows, rule, listing } = await explain(parts.sb, path)
    return `${shows}, ${rule}, listing has ${listing?.has}`
  }
  expect(await rule('/')).toBe('folder, here, listing has undefined')
  expect(await rule('/d')).toBe('folder, listed, listing has folder')
  expect(await rule('/d/given.txt')).toBe('document, listed, listing has document')
  expect(await rule('/d/none.txt')).toBe('nothing, listed, listing has nothing')
  expect(await rule('/none/none.txt')).toBe('nothing, gone, listing has undefined')

  parts.sb.queue.pause('asked')
  await parts.calls.writeFile('/d/new.txt', 'new')
  await parts.calls.unlink('/d/given.txt')
  expect(await rule('/d/new.txt')).toBe('document, here, listing has nothing')
  expect(await rule('/d/given.txt')).toBe('nothing, open, listing has document')
  expect(await rule('/d')).toBe('folder, here, listing has folder')

  parts.sb.queue.goOn('asked')
  parts.sb.queue.goOn()
  await waitUntil('both to be sent', () => parts.sb.queue.jobsUnder('/').length === 0)
  expect(await rule('/d/new.txt')).toBe('document, lagging, listing has nothing')
  expect(await rule('/d/given.txt')).toBe('nothing, lagging, listing has document')
  const { agreed } = await explain(parts.sb, '/d/new.txt')
  expect(Date.parse(agreed?.until ?? '')).toBeGreaterThan(Date.parse(agreed?.at ?? ''))
})

it('tells what holds each change', async () => {
  await using parts = await openParts({ '/a.txt': 'given' })
  const { queue } = parts.sb
  const waits = async (path: string): Promise<unknown[]> =>
    (await explain(parts.sb, path)).changes.map(({ kind, waits: { for: what, older } }) =>
      [kind, what, older].filter((word) => word !== undefined).join(' '),
    )
  queue.pause('asked')
  await parts.calls.rename('/a.txt', '/b.txt')
  expect(await waits('/a.txt')).toEqual(['put pause'])
  expect(await waits('/b.txt')).toEqual(['put pause'])

  const refuse = (path: string): void => {
    const job = queue.find(path)
    if (job === undefined) throw new Error(`no change of ${path}`)
    queue.refuse(job, new ErrnoError('EINVAL', 'not taken'))
  }
  refuse('/b.txt')
  await parts.calls.mkdir('/d')
  await parts.calls.writeFile('/d/c.txt', 'ours')
  refuse('/d/c.txt')
  queue.submit({ kind: 'prune', path: '/d' })
  queue.goOn('asked')
  queue.goOn()
  expect(explanationLines(await explain(parts.sb, '/b.txt')).at(-1)).toMatch(
    /^ {2}move from \/a\.txt since .* \(not taken\): the service refused it; docmount retry sends it again$/,
  )
  expect(await waits('/d/c.txt')).toEqual(['put refused'])
  expect(await waits('/d')).toEqual(['prune older /d/c.txt'])
})

it('says what is known while the service is away', async () => {
  await using parts = await openParts({ '/d/given.txt': 'given' })
  await parts.calls.readdir('/d')
  await parts.service.stop()
  expect(await explain(parts.sb, '/none/a.txt')).toMatchObject({ shows: 'nothing' })
  await parts.calls.writeFile('/d/new.txt', 'new')
  const [line] = explanationLines(await explain(parts.sb, '/d/new.txt'))
  expect(line).toBe('/d/new.txt shows a document: the service does not have it as it is here')
})
