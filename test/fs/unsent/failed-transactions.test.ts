// A change that the journal cannot take (the disk is full) is nothing: neither in the journal nor in what is shown. Reading goes on,
// and what it would have tidied there waits.

import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { createClient } from '../../../src/api/client.ts'
import { JournalDatabase } from '../../../src/content/spool/journal-database.ts'
import { operationsOf } from '../../../src/fs/file-system.ts'
import { start, stop } from '../../../src/fs/start.ts'
import type { Superblock } from '../../../src/fs/superblock.ts'
import { contradictions, described } from '../../../src/fs/tree/states.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

interface Drive {
  readonly sb: Superblock
  readonly calls: Calls
}

/** Everything that is known of every node, but for what only grows, and which backups rest. */
function known({ sb }: Drive): unknown {
  const nodes = [...sb.tree.nodes.all()].map((node) => {
    const { ino, isUnlinked, folder, times } = node
    const { base, movesFrom, isCopy, job } = node.unsent
    const { mode, atime, mtime, ctime } = times
    return {
      what: described(node),
      place: { ino, isUnlinked, agreed: sb.tree.places.agreed(node) },
      unsent: { base, movesFrom, isCopy },
      times: { mode, atime, mtime, ctime },
      elsewhere: node.stored.elsewhere,
      shown: sb.tree.versions.shownElsewhere(node.stored.elsewhere ?? '').includes(node),
      job: job?.intention,
      owned: job === undefined || sb.owners.of(job.intention) === node,
      content: [node.content?.id, node.content?.journaledBytes],
      kept: [...(folder?.kept ?? [])].sort(),
      children: [...(folder?.children.keys() ?? [])].sort(),
      synced: new Map(sb.tree.synced.in(node)),
      made: [folder?.isMadeHere, folder?.isOnlyHere],
      listed: [...(sb.tree.listings.known(node)?.names.keys() ?? [])].sort(),
    }
  })
  const resting = [...sb.saves.deferred].map(([path, { node, job }]) => [path, node.ino, job.intention.id])
  return { nodes, resting }
}

/** All that the journal says, and that memory says too. */
function journaled({ sb }: Drive): unknown {
  const { intentions, localFiles, folders, attributes } = sb.journal
  const here = [localFiles.all(), folders.all(), attributes.all()]
  return { unsent: intentions.all(), here }
}

/** Until the answer is called every transaction fails at its end, also that of a single row. */
function fillDisk(): () => void {
  const { prototype } = JournalDatabase
  const commit = Reflect.get(prototype, 'transaction') as (this: JournalDatabase, body: () => void) => never
  let isInside = false
  const full = vi.spyOn(prototype, 'transaction').mockImplementation(function (
    this: JournalDatabase,
    body: () => unknown,
  ) {
    if (isInside) return body()
    isInside = true
    try {
      return commit.call(this, () => {
        body()
        throw Object.assign(new Error('database or disk is full'), { code: 'ENOSPC' })
      })
    } finally {
      isInside = false
    }
  })
  return () => full.mockRestore()
}

/** A drive that sends nothing until its queue goes on. */
async function withDrive(test: (drive: Drive, service: TestService) => Promise<void>): Promise<void> {
  const temporary = await makeTemporaryFolder()
  const service = await startTestService()
  for (const path of ['/a.txt', '/b.txt', '/c.txt', '/was.txt', '/d/a.txt'])
    await service.other.put(path, path)
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const stateDir = join(temporary.path, 'state')
  const cacheDir = join(temporary.path, 'cache')
  const sb = await start({ files: client.files(project), stateDir, cacheDir, closeWaitMs: 0 })
  sb.queue.pause()
  try {
    await test({ sb, calls: objectDoor(operationsOf(sb)) }, service)
  } finally {
    await stop(sb)
    await client.close()
    await service.close()
    await temporary.remove()
  }
}

it.each<[string, (calls: Calls) => Promise<unknown>]>([
  ['a rename', (calls) => calls.rename('/a.txt', '/n.txt')],
  ['a rename over another document', (calls) => calls.rename('/a.txt', '/b.txt')],
  ['a rename of what is unsent', (calls) => calls.rename('/unsent.txt', '/n.txt')],
  ['a rename over what is unsent', (calls) => calls.rename('/a.txt', '/unsent.txt')],
  ['a rename to a backup', (calls) => calls.rename('/a.txt', '/a.txt~')],
  ['a rename over a backup', (calls) => calls.rename('/a.txt', '/was.txt~')],
  ['a rename from a temporary', (calls) => calls.rename('/new.txt.part', '/new.txt')],
  ['a rename of a temporary', (calls) => calls.rename('/new.txt.part', '/other.txt.part')],
  ['a rename of a folder', (calls) => calls.rename('/d', '/e')],
  ['a rename of a folder that is only here', (calls) => calls.rename('/made', '/e')],
  ['a rename of what is being moved', (calls) => calls.rename('/moved.txt', '/again.txt')],
  ['a delete', (calls) => calls.unlink('/a.txt')],
  ['a delete of what is unsent', (calls) => calls.unlink('/unsent.txt')],
  ['a delete of the last in a folder', (calls) => calls.unlink('/d/a.txt')],
  ['a delete of a temporary', (calls) => calls.unlink('/new.txt.part')],
  ['a rename to where a backup was', (calls) => calls.rename('/new.txt.part', '/was.txt')],
  ['a new folder', (calls) => calls.mkdir('/new')],
  ['a new folder in another', (calls) => calls.mkdir('/d/new')],
  ['a new folder where a document was', (calls) => calls.mkdir('/c.txt')],
  ['a folder that goes', (calls) => calls.rmdir('/made')],
  ['a mode', (calls) => calls.chmod('/a.txt', 0o600)],
  ['a mode in the place of another', (calls) => calls.chmod('/b.txt', 0o640)],
  ['a mode of what is unsent', (calls) => calls.chmod('/unsent.txt', 0o600)],
  ['a time', (calls) => calls.utimes('/a.txt', 1_000_000_000, 1_000_000_000)],
])('%s that the journal cannot take is nothing', (_title, change) =>
  withDrive(async (drive) => {
    const { sb, calls } = drive
    await calls.writeFile('/unsent.txt', 'unsent')
    await calls.writeFile('/new.txt.part', 'a download')
    await calls.rename('/c.txt', '/moved.txt')
    await calls.rename('/was.txt', '/was.txt~')
    await calls.mkdir('/made')
    for (const folder of ['', '/d']) await calls.readdir(folder)
    for (const path of ['/a.txt', '/b.txt', '/d/a.txt']) await calls.stat(path)
    await calls.chmod('/b.txt', 0o600)
    const before = known(drive)
    const journaledBefore = journaled(drive)
    const freeDisk = fillDisk()
    await expect(change(calls).finally(freeDisk)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(known(drive)).toEqual(before)
    expect(journaled(drive)).toEqual(journaledBefore)
    for (const node of sb.tree.nodes.all()) expect(contradictions(node)).toEqual([])
    // Nor has memory a row that the journal does not have.
    sb.journal.transaction(() => sb.attributes.saveAgain())
    expect(journaled(drive)).toEqual(journaledBefore)
    // The change may be made after all.
    await change(calls)
    sb.queue.goOn()
    expect(await operationsOf(sb).drain({ timeoutMs: 30_000 })).toEqual([])
  }),
)

it('a listing that shows a folder made here is told while the disk is full, and the next one notes that it arrived', () =>
  withDrive(async ({ sb, calls }, { other }) => {
    await calls.mkdir('/made')
    const made = sb.tree.find('/made')
    await other.put('/made/theirs.txt', 'theirs')
    const freeDisk = fillDisk()
    sb.tree.askAgain(sb.tree.nodes.root)
    expect(await calls.readdir('').finally(freeDisk)).toContain('made')
    expect(sb.journal.folders.all()).toEqual(['/made'])
    expect(made).toMatchObject({ folder: { isMadeHere: true, isOnlyHere: true } })
    expect(sb.tree.synced.at('/made')).toBeUndefined()
    sb.tree.askAgain(sb.tree.nodes.root)
    expect(await calls.readdir('')).toContain('made')
    expect(sb.journal.folders.all()).toEqual([])
    expect(made).toMatchObject({ folder: { isMadeHere: false } })
  }))

it('another client’s version shows while the disk is full, and the mode of the older one is forgotten later', () =>
  withDrive(async ({ sb, calls }, { other }) => {
    await calls.chmod('/a.txt', 0o600)
    const rows = (): string[] => sb.journal.attributes.all().map(({ path }) => path)
    expect(rows()).toEqual(['/a.txt'])
    await other.put('/a.txt', 'theirs, and longer')
    const freeDisk = fillDisk()
    sb.tree.askAgain(sb.tree.nodes.root)
    expect(await calls.readdir('').finally(freeDisk)).toContain('a.txt')
    expect(await calls.stat('/a.txt')).toMatchObject({ size: 18, mode: 0o644 })
    expect(rows()).toEqual(['/a.txt'])
    await other.put('/a.txt', 'theirs once more')
    sb.tree.askAgain(sb.tree.nodes.root)
    await calls.readdir('')
    expect(await calls.stat('/a.txt')).toMatchObject({ size: 16, mode: 0o644 })
    expect(rows()).toEqual([])
  }))

it('a copy of another client’s version that is gone is named no more, and forgotten once the journal can take it', () =>
  withDrive(async ({ sb, calls }) => {
    sb.conflicts.kept('/a.txt', '/a (conflict).txt')
    const rows = (): string[] => sb.journal.conflicts.all().map(({ copy }) => copy)
    sb.tree.askAgain(sb.tree.nodes.root)
    await calls.readdir('')
    const freeDisk = fillDisk()
    expect(sb.conflicts.list(sb.tree)).toEqual([])
    freeDisk()
    expect(rows()).toEqual(['/a (conflict).txt'])
    expect(sb.conflicts.list(sb.tree)).toEqual([])
    expect(rows()).toEqual([])
  }))
