// Status of the filesystem.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { status } from '../../../src/fs/control/gather-status.ts'
import { openParts } from '../../support/open-parts.ts'

it('names what is unsent, what is only here, what was refused, and what was set aside', async () => {
  await using parts = await openParts()
  const { sb, calls } = parts
  expect(status(sb)).toMatchObject({ unsent: [], unsentBytes: 0, scratch: [], refusedNames: [], damaged: [] })
  await calls.writeFile('/a.txt', 'ours')
  await calls.writeFile('/.a.txt.swp', 'swap')
  await expect(calls.writeFile('/a.zip', 'zip')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
  const { stateDir } = sb.settings
  for (const name of ['journal.db.damaged-1', 'journal.db.damaged-1-wal'])
    writeFileSync(join(stateDir, name), '')
  const file = await calls.open('/a.txt', 'r')
  expect(status(sb)).toMatchObject({
    service: 'reachable',
    stale: false,
    unsent: [{ path: '/a.txt', bytes: 4 }],
    unsentBytes: 4,
    scratchFiles: 1,
    scratch: [{ path: '/.a.txt.swp', bytes: 4 }],
    // It was made a moment ago.
    localOnly: [],
    refusedNames: [{ path: '/a.zip', count: 1 }],
    damaged: [join(stateDir, 'journal.db.damaged-1')],
    openHandles: 1,
  })
  await file.close()
  await calls.unlink('/.a.txt.swp')
  expect(status(sb)).toMatchObject({ scratchFiles: 0, scratch: [], openHandles: 0 })
})
