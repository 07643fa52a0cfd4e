// The journal's file on disk: its schema through the years, and who may read it.

import { realWorld } from '../../../src/world/world.ts'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { intend } from '../../../src/content/intention.ts'
import { onRollback } from '../../../src/content/spool/transaction-steps.ts'
import { Undoable, UndoableMap, UndoableSet } from '../../../src/content/spool/undo.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { schemaVersion } from '../../../src/content/spool/journal-migrations.ts'
import { SavedListings } from '../../../src/content/spool/saved-listings.ts'
import { silentLog } from '../../../src/log.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let dir: string

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  dir = join(temporary.path, 'state')
})

afterEach(() => temporary.remove())

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

function sql(text: string): void {
  const db = new Database(join(dir, 'journal.db'))
  db.exec(text)
  db.close()
}

test('a journal carries the version of its schema', () => {
  new Journal(dir, realWorld()).close()
  const db = new Database(join(dir, 'journal.db'))
  expect(db.prepare('pragma user_version').get()).toMatchObject({ user_version: schemaVersion })
  db.close()
})

test('a journal of a newer docmount is refused in one sentence, and stays as it is', () => {
  new Journal(dir, realWorld()).close()
  sql(`pragma user_version = ${schemaVersion + 1}`)
  const before = statSync(join(dir, 'journal.db')).mtimeMs
  expect(() => new Journal(dir, realWorld())).toThrow(
    /^ENOTSUP: the journal in .* was written by a newer docmount [^.\n]*$/,
  )
  expect(statSync(join(dir, 'journal.db')).mtimeMs).toBe(before)
  sql(`pragma user_version = ${schemaVersion}`)
  new Journal(dir, realWorld()).close()
})

test('what is saved is read back the same, whatever order the columns are in', () => {
  const first = new Journal(dir, realWorld())
  const intention = {
    ...intend(7, { kind: 'put', path: '/a.txt', spool: 's', size: 3 }, 12),
    digest: { size: 3, sha256: 'abc' },
    sentDigests: [{ size: 2, sha256: 'def' }],
    errorErrno: 'EACCES',
    isRefused: true,
  }
  first.intentions.save(intention)
  first.close()
  const db = new Database(join(dir, 'journal.db'))
  const columns = (db.prepare('pragma table_info(intention)').all() as { name: string }[]).map(
    ({ name }) => name,
  )
  db.close()
  sql(`create table other as select ${columns.toReversed().join()} from intention; drop table intention;
    alter table other rename to intention`)
  const second = new Journal(dir, realWorld())
  expect(second.intentions.all()).toEqual([{ ...intention, keepSource: false, isOutcomeUnknown: true }])
  second.intentions.save({ ...intention, id: 8, path: '/b.txt' })
  expect(second.intentions.all().map(({ path, spool }) => [path, spool])).toContainEqual(['/b.txt', 's'])
  second.close()
})

test('a signature that an older docmount kept is not read back', () => {
  const first = new Journal(dir, realWorld())
  first.intentions.save({
    ...intend(1, { kind: 'delete', path: '/a.txt' }, 0),
    lastError: 'PUT /a.txt: 400 cannot fetch https://host/d/1?signature=SECRET',
  })
  first.close()
  const second = new Journal(dir, realWorld())
  expect(second.intentions.all()[0]?.lastError).toBe(
    'PUT /a.txt: 400 cannot fetch https://host/d/1?[redacted]',
  )
  second.close()
})

test('nobody else may read it, whatever the modes were before', () => {
  mkdirSync(dir, { mode: 0o755 })
  writeFileSync(join(dir, 'journal.db'), '')
  writeFileSync(join(dir, 'lock.db'), '')
  for (const name of ['', 'journal.db', 'lock.db']) chmodSync(join(dir, name), name === '' ? 0o755 : 0o644)
  const journal = new Journal(dir, realWorld())
  expect(modeOf(dir)).toBe('700')
  for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm', 'lock.db'])
    expect([name, modeOf(join(dir, name))]).toEqual([name, '600'])
  journal.close()
})

test('another program that held the database is waited for, and leaves nothing behind', () => {
  const journal = new Journal(dir, realWorld())
  journal.folders.save('/before')
  const other = new Database(join(dir, 'journal.db'))
  other.exec('begin immediate')
  expect(() => journal.folders.save('/meanwhile')).toThrow('locked')
  expect(journal.folders.all()).toEqual(['/before'])
  other.exec('commit')
  journal.transaction(() => journal.folders.remove('/before'))
  expect(other.prepare('select path from folder').all()).toEqual([])
  journal.folders.save('/after')
  expect(journal.folders.all()).toEqual(['/after'])
  other.close()
  journal.close()
})

test('a transaction that fails names no file, and takes no name away', () => {
  const journal = new Journal(dir, realWorld())
  const told: unknown[] = []
  journal.named.onNamed = (...named) => told.push(named)
  journal.localFiles.save({ path: '/a.tmp', spool: 'first', reference: undefined })
  const before = new Map(journal.named.all())
  expect(() =>
    journal.transaction(() => {
      journal.localFiles.save({ path: '/a.tmp', spool: 'second', reference: undefined })
      journal.localFiles.save({ path: '/b.tmp', spool: 'third', reference: undefined })
      journal.localFiles.remove('/a.tmp')
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(new Map(journal.named.all())).toEqual(before)
  expect(told).toEqual([['scratch /a.tmp', undefined, 'first']])
  expect([...journal.dropped.all()]).toEqual([])
  journal.localFiles.save({ path: '/a.tmp', spool: 'second', reference: undefined })
  expect(told.at(-1)).toEqual(['scratch /a.tmp', 'first', 'second'])
  journal.close()
})

class Thing extends Undoable<{ value: number; other: string }> {
  constructor() {
    super({ value: 1, other: 'same' })
  }
  get value(): number {
    return this.now.value
  }
  change(value: number): void {
    this.alter({ value })
  }
}

test('what a transaction changed several times is as before where it fails, and once more where that is another', () => {
  const journal = new Journal(dir, realWorld())
  const thing = new Thing()
  const entries = new UndoableMap([['a', 1], ['b', 2]]) // prettier-ignore
  const members = new UndoableSet(['a', 'b'])
  const seen = (): unknown => [thing.value, Object.fromEntries(entries), new Set(members)]
  const failing = (): void => {
    thing.change(thing.value + 1)
    entries.set('a', 5).set('c', 3).delete('b')
    members.add('c').delete('a')
    thing.change(thing.value + 1)
    entries.set('a', 6).clear()
    members.clear()
    throw new Error('it fails')
  }
  const before = seen()
  for (let round = 0; round < 2; round++) {
    expect(() => journal.transaction(failing)).toThrow('it fails')
    expect(seen()).toEqual(before)
  }
  journal.transaction(() => {
    thing.change(3)
    entries.set('a', 7)
    members.delete('a')
  })
  // Outside of a transaction nothing is noted.
  thing.change(4)
  const after = seen()
  expect(after).toEqual([4, { a: 7, b: 2 }, new Set(['b'])])
  expect(() => journal.transaction(failing)).toThrow('it fails')
  expect(seen()).toEqual(after)
  journal.close()
})

test('a step that throws after a transaction, or while one is undone, keeps no other from being taken', async () => {
  const journal = new Journal(dir, realWorld())
  const failures: unknown[] = []
  journal.onStepFailed = (error) => failures.push(error)
  const taken: string[] = []
  const fail = (): void => {
    throw new Error('a step')
  }
  journal.transaction(() => {
    journal.folders.save('/a')
    journal.afterCommit(fail)
    journal.afterCommit(() => taken.push('after'))
  })
  journal.onceDurable(fail)
  journal.onceDurable(() => taken.push('durable'))
  await journal.durable()
  const undone = (): void =>
    journal.transaction(() => {
      journal.folders.save('/b')
      onRollback(() => taken.push('undone'))
      onRollback(fail)
      throw new Error('the transaction')
    })
  expect(undone).toThrow('the transaction')
  expect(taken).toEqual(['after', 'durable', 'undone'])
  expect(failures).toHaveLength(3)
  expect(journal.folders.all()).toEqual(['/a'])
  journal.close()
})

test('an index of the log that is cut under it ends no process', () => {
  const journal = new Journal(dir, realWorld())
  journal.folders.save('/a')
  truncateSync(join(dir, 'journal.db-shm'), 0)
  journal.folders.save('/b')
  truncateSync(join(dir, 'journal.db-shm'), 0)
  expect(journal.folders.all()).toEqual(['/a', '/b'])
  journal.close()
})

test('what comes after the end is refused, and does not end the process', async () => {
  const journal = new Journal(dir, realWorld())
  journal.folders.save('/before')
  journal.close()
  expect(() => journal.folders.all()).toThrow(/^EIO: .*closed$/)
  expect(() => journal.folders.save('/after')).toThrow(/^EIO: .*closed$/)
  await expect(journal.durable()).rejects.toThrow(/^EIO: .*closed$/)
  const saved = new SavedListings(dir, silentLog, realWorld().clock)
  saved.close()
  saved.save('/', new Map())
  expect(saved.load('/')).toBeUndefined()
  saved.close()
})

test.each<readonly [what: string, change: (journal: Journal) => void]>([
  ['gone', (journal) => journal.localFiles.remove('/a.txt~')],
  [
    'of another content',
    (journal) => journal.localFiles.save({ path: '/a.txt~', spool: 'a content', reference: undefined }),
  ],
])(
  'a file that is %s may refer to the service again after a power cut until that is on disk',
  async (_what, change) => {
    const journal = new Journal(dir, realWorld())
    const reference = { path: '/a.txt', fingerprint: '1@now', size: 1 }
    journal.localFiles.save({ path: '/a.txt~', spool: undefined, reference })
    await journal.durable()
    expect(journal.undurableDeletes.mayResurfaceReference('/a.txt')).toBe(false)
    change(journal)
    expect(journal.undurableDeletes.mayResurfaceReference('/a.txt')).toBe(true)
    await journal.durable()
    expect(journal.undurableDeletes.mayResurfaceReference('/a.txt')).toBe(false)
    journal.close()
  },
)

test('a folder that ended may return after a power cut until that is on disk: what takes its name waits for that', async () => {
  const journal = new Journal(dir, realWorld())
  journal.folders.save('/a.txt')
  await journal.durable()
  expect(journal.undurableDeletes.mayResurface(['/a.txt'], undefined)).toBe(false)
  journal.folders.remove('/a.txt')
  expect(journal.undurableDeletes.mayResurface(['/a.txt'], undefined)).toBe(true)
  expect(journal.undurableDeletes.mayResurface(['/a.txt/b.txt'], undefined)).toBe(false)
  await journal.durable()
  expect(journal.undurableDeletes.mayResurface(['/a.txt'], undefined)).toBe(false)
  journal.close()
})

test.each([
  ['somewhere', 1],
  ['at its beginning', 0],
])(
  'what a power cut took from the log, torn %s, does not come back when the same is written again',
  (_, savedBefore) => {
    const world = realWorld()
    /** As a kill, or a power cut that leaves all of it, would leave it. */
    const copied = (journal: Journal, from: string, change: (log: Buffer) => void = () => {}): string => {
      const to = `${from}+`
      mkdirSync(to)
      copyFileSync(join(from, 'journal.db'), join(to, 'journal.db'))
      const log = readFileSync(join(from, 'journal.db-wal'))
      change(log)
      writeFileSync(join(to, 'journal.db-wal'), log)
      journal.close()
      return to
    }
    const save = (journal: Journal, id: number): void =>
      journal.intentions.save(intend(id, { kind: 'delete', path: `/${id}` }, 0))
    new Journal(dir, world).close()
    // Killed after that: its log goes on under the salt that it has by then.
    const earlier = new Journal(dir, world)
    save(earlier, 9)
    const started = copied(earlier, dir)
    const first = new Journal(started, world)
    first.intentions.remove(9)
    for (let id = 1; id <= savedBefore; id++) save(first, id)
    const before = savedBefore === 0 ? Buffer.alloc(0) : readFileSync(join(started, 'journal.db-wal'))
    save(first, 2)
    save(first, 3)
    // Of what was not synced yet the disk has the end, and not the beginning.
    const second = copied(first, started, (log) => {
      const torn = savedBefore === 0 ? 32 : log.findIndex((byte, at) => byte !== before[at])
      log.fill(0, torn, torn + 24)
    })
    const cut = new Journal(second, world)
    const kept = cut.intentions.all().map(({ id }) => id)
    expect(kept).not.toContain(3)
    if (savedBefore === 0) cut.intentions.remove(9)
    save(cut, 2)
    const again = new Journal(copied(cut, second), world)
    expect(again.intentions.all().map(({ id }) => id)).not.toContain(3)
    again.close()
  },
)
