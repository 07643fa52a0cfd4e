// The state of one path, in one word and its reasons.

import { expect, it } from 'vitest'
import { ErrnoError } from '../../../src/errno-error.ts'
import { placeOf } from '../../../src/fs/control/place.ts'
import { realWorld } from '../../../src/world/world.ts'
import { openParts } from '../../support/open-parts.ts'

it('is in the service, a folder, or nothing', async () => {
  await using parts = await openParts({ '/d/given.txt': 'given' })
  expect(await placeOf(parts.sb, '/d/given.txt')).toMatchObject({ state: 'stored', bytes: 5 })
  expect(await placeOf(parts.sb, '/d')).toEqual({ state: 'folder' })
  for (const path of ['/none.txt', '/none/none.txt', '/d/given.txt/none'])
    expect(await placeOf(parts.sb, path)).toEqual({ state: 'absent' })
})

it('is unsent until it has arrived, and refused where that was said', async () => {
  await using parts = await openParts({ '/given.txt': 'given' })
  await parts.calls.writeFile('/a.txt', 'ours')
  await parts.calls.unlink('/given.txt')
  expect(await placeOf(parts.sb, '/a.txt')).toMatchObject({ state: 'unsent', unsent: { action: 'upload' } })
  expect(await placeOf(parts.sb, '/given.txt')).toMatchObject({
    state: 'unsent',
    unsent: { action: 'delete' },
  })
  const job = parts.sb.queue.find('/a.txt')
  if (job !== undefined) parts.sb.queue.refuse(job, new ErrnoError('EINVAL', 'not taken'))
  expect(await placeOf(parts.sb, '/a.txt')).toMatchObject({ state: 'refused', why: 'not taken' })
})

it('is only here: empty, temporary, or open in a program', async () => {
  await using parts = await openParts()
  await parts.calls.mkdir('/made')
  await parts.calls.writeFile('/.a.txt.swp', 'swap')
  const file = await parts.calls.open('/a.txt', 'w')
  await file.write('ours', 0)
  const here = async (path: string): Promise<string> => {
    const place = await placeOf(parts.sb, path)
    return place.state === 'here' ? `${place.bytes} bytes, ${place.why}` : place.state
  }
  expect(await Promise.all(['/made', '/.a.txt.swp', '/a.txt'].map(here))).toEqual([
    '0 bytes, an empty folder reaches the service with its first document',
    '4 bytes, belongs to the program that made it',
    '4 bytes, open in a program: it is sent when it is closed',
  ])
  await file.close()
})

it('is nowhere where the service takes no such name', async () => {
  await using parts = await openParts()
  await expect(parts.calls.writeFile('/a.zip', 'zip')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
  const place = await placeOf(parts.sb, '/a.zip')
  expect(place).toMatchObject({ state: 'refused', unsent: undefined })
  expect(place.state === 'refused' && place.why).toContain('nothing of it is here')
})

it('is unknown where the service cannot be asked, and what is unsent there is known all the same', async () => {
  await using parts = await openParts({ '/d/given.txt': 'given' })
  await parts.calls.stat('/d')
  await parts.service.stop()
  expect(await placeOf(parts.sb, '/d/given.txt')).toMatchObject({ state: 'unknown' })
  parts.sb.queue.submit({ kind: 'delete', path: '/d/given.txt' })
  expect(await placeOf(parts.sb, '/d/given.txt')).toMatchObject({ state: 'unsent' })
})

it('is refused for a day, and then nothing as before', async () => {
  const world = realWorld()
  let laterMs = 0
  const clock = { ...world.clock, wall: () => Date.now() + laterMs }
  await using parts = await openParts({}, { world: { ...world, clock } })
  const save = (): Promise<unknown> => parts.calls.open('/a.docx', 'wx+').catch(() => {})
  await save()
  expect(await placeOf(parts.sb, '/a.docx')).toMatchObject({ state: 'refused' })
  laterMs = 25 * 3_600_000
  expect(await placeOf(parts.sb, '/a.docx')).toEqual({ state: 'absent' })
  expect(parts.operations.dismissNames('/')).toBe(0)
  await save()
  laterMs *= 2
  await save()
  expect(parts.notices).toHaveLength(3)
  expect(parts.operations.status().refusedNames).toMatchObject([{ path: '/a.docx', count: 1 }])
})
