// A change whose transaction fails (a disk that is full) is nothing: neither in the journal nor in what is shown.

import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { createClient } from '../../../src/api/client.ts'
import { operationsOf } from '../../../src/fs/file-system.ts'
import { start, stop } from '../../../src/fs/start.ts'
import type { Superblock } from '../../../src/fs/superblock.ts'
import { contradictions, described } from '../../../src/fs/tree/states.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

interface Drive {
  readonly sb: Superblock
  readonly calls: Calls
}

/** Everything that is known of every node, but for what only grows. */
function known({ sb }: Drive): unknown {
  return [...sb.tree.nodes.all()].map((node) => {
    const { ino, isUnlinked, settledAt, folder, times } = node
    const { base, movesFrom, isCopy, job } = node.unsent
    const { mode, atime, mtime, ctime } = times
    return {
      what: described(node),
      place: { ino, isUnlinked, settledAt },
      unsent: { base, movesFrom, isCopy },
      times: { mode, atime, mtime, ctime },
      elsewhere: node.stored.elsewhere,
      shown: sb.tree.versions.shownElsewhere(node.stored.elsewhere ?? '').includes(node),
      job: job?.intention,
      owned: job === undefined || sb.owners.of(job.intention) === node,
      content: node.content?.id,
      kept: [...(folder?.kept ?? [])].sort(),
      children: [...(folder?.children.keys() ?? [])].sort(),
      tombstones: new Map(folder?.tombstones),
      made: [folder?.isMadeHere, folder?.isOnlyHere],
      listed: [...(sb.tree.listings.known(node)?.names.keys() ?? [])].sort(),
    }
  })
}

it.each<[string, (calls: Calls) => Promise<unknown>]>([
  ['a rename', (calls) => calls.rename('/a.txt', '/n.txt')],
  ['a rename over another document', (calls) => calls.rename('/a.txt', '/b.txt')],
  ['a rename of what is unsent', (calls) => calls.rename('/unsent.txt', '/n.txt')],
  ['a rename over what is unsent', (calls) => calls.rename('/a.txt', '/unsent.txt')],
  ['a rename to a backup', (calls) => calls.rename('/a.txt', '/a.txt~')],
  ['a rename from a temporary', (calls) => calls.rename('/new.txt.part', '/new.txt')],
  ['a rename of a folder', (calls) => calls.rename('/d', '/e')],
  ['a rename of what is being moved', (calls) => calls.rename('/moved.txt', '/again.txt')],
  ['a delete', (calls) => calls.unlink('/a.txt')],
  ['a delete of what is unsent', (calls) => calls.unlink('/unsent.txt')],
  ['a delete of the last in a folder', (calls) => calls.unlink('/d/a.txt')],
  ['a rename to where a backup was', (calls) => calls.rename('/new.txt.part', '/was.txt')],
])('%s in a transaction that fails is nothing', async (_title, change) => {
  const temporary = await makeTemporaryFolder()
  const service = await startTestService()
  for (const path of ['/a.txt', '/b.txt', '/c.txt', '/was.txt', '/d/a.txt'])
    await service.other.put(path, path)
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const stateDir = join(temporary.path, 'state')
  const cacheDir = join(temporary.path, 'cache')
  const sb = await start({ files: client.files(project), stateDir, cacheDir, closeWaitMs: 0 })
  // Nothing is sent meanwhile.
  sb.queue.pause()
  const drive = { sb, calls: objectDoor(operationsOf(sb)) }
  try {
    const { calls } = drive
    await calls.writeFile('/unsent.txt', 'unsent')
    await calls.writeFile('/new.txt.part', 'a download')
    await calls.rename('/c.txt', '/moved.txt')
    await calls.rename('/was.txt', '/was.txt~')
    for (const folder of ['', '/d']) await calls.readdir(folder)
    for (const path of ['/a.txt', '/b.txt', '/d/a.txt']) await calls.stat(path)
    const before = known(drive)
    const journaled = sb.journal.intentions.all()
    const { journal } = sb
    const commit = journal.transaction.bind(journal)
    const failing = vi.spyOn(journal, 'transaction').mockImplementationOnce((body) =>
      commit(() => {
        body()
        throw Object.assign(new Error('database or disk is full'), { code: 'ENOSPC' })
      }),
    )
    await expect(change(calls)).rejects.toMatchObject({ code: 'ENOSPC' })
    failing.mockRestore()
    expect(known(drive)).toEqual(before)
    expect(sb.journal.intentions.all()).toEqual(journaled)
    for (const node of sb.tree.nodes.all()) expect(contradictions(node)).toEqual([])
    // What did not happen may happen.
    await change(calls)
    sb.queue.goOn()
    expect(await operationsOf(sb).drain({ timeoutMs: 30_000 })).toEqual([])
  } finally {
    await stop(sb)
    await client.close()
    await service.close()
    await temporary.remove()
  }
})
