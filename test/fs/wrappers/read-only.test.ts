// A read-only drive: what would change a document is refused, and everything else is as ever.

import { expect, it } from 'vitest'
import { readOnly } from '../../../src/fs/wrappers/read-only.ts'
import { objectDoor } from '../../support/object-door.ts'
import { openParts } from '../../support/open-parts.ts'

it('refuses what would change a document, and reads', async () => {
  await using parts = await openParts({ '/a.txt': 'a', '/d/b.txt': 'b' })
  const calls = objectDoor(readOnly(parts.operations))
  const changes = [
    () => calls.writeFile('/a.txt', 'ours'),
    () => calls.writeFile('/new.txt', 'ours'),
    () => calls.open('/a.txt', 'r+'),
    () => calls.truncate('/a.txt', 0),
    () => calls.chmod('/a.txt', 0o600),
    () => calls.utimes('/a.txt', 1, 1),
    () => calls.unlink('/a.txt'),
    () => calls.rename('/a.txt', '/c.txt'),
    () => calls.mkdir('/e'),
    () => calls.rmdir('/d'),
  ]
  for (const change of changes)
    await expect((async () => change())(), String(change)).rejects.toMatchObject({ code: 'EROFS' })
  expect((await calls.readFile('/a.txt')).toString()).toBe('a')
  expect((await calls.readdir('/')).sort()).toEqual(['a.txt', 'd'])
  expect([...parts.sb.queue.jobs()]).toEqual([])
})
