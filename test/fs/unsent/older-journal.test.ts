// A state folder that a docmount of an older schema, or of today's, left with something unsent: opened, shown and sent.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import { schemaVersion } from '../../../src/content/spool/journal-migrations.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Stat } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

/** Word for word what the first docmount made: never to be changed. */
const firstSchema = `
create table if not exists intention (
  id integer primary key, kind text not null, path text not null, spool text, size integer, source text,
  source_fingerprint text, keep_source integer not null, base text, in_doubt integer not null, doubts text not null, proven integer not null,
  not_before integer not null, attempts integer not null, last_error text, refused integer not null, since integer not null);
create table if not exists content (spool text primary key, bytes blob not null);
create table if not exists folder (path text primary key) without rowid;
create table if not exists scratch (path text primary key, spool text, reference text, reference_fingerprint text,
  reference_size integer) without rowid;
create table if not exists attribute (path text primary key, fingerprint text not null, mode integer, mtime_sec integer,
  mtime_nsec integer) without rowid;
create table if not exists counter (name text primary key, value integer not null) without rowid;
`

/** Word for word what the fourth schema was: never to be changed. */
const fourthSchema = `
create table intention (
  id integer primary key, kind text not null, path text not null, spool text, size integer, source text,
  source_fingerprint text, keep_source integer not null, base text, in_doubt integer not null, doubts text not null,
  proven integer not null, not_before integer not null, attempts integer not null, last_error text,
  refused integer not null, since integer not null, digest text, error_errno text, seal text);
create table content (spool text primary key, bytes blob not null);
create table folder (path text primary key) without rowid;
create table scratch (path text primary key, spool text, reference text, reference_fingerprint text,
  reference_size integer, size integer, digest text) without rowid;
create table attribute (path text primary key, fingerprint text not null, mode integer,
  mtime_sec integer, mtime_nsec integer, atime_sec integer, atime_nsec integer) without rowid;
create table counter (name text primary key, value integer not null) without rowid;
create table dropped (id integer primary key, spool text not null);
create table conflict (copy text primary key, path text not null, at integer not null) without rowid;
pragma user_version = 4;
`

/** The fifth schema, word for word: never to be changed. */
const fifthSchema = fourthSchema
  .replace(
    'size integer, digest text) without',
    'size integer, digest text, made_temporary integer, cut_off integer) without',
  )
  .replace('user_version = 4', 'user_version = 5')

/** The schema that a docmount makes today: never to be changed. A later one gets its own, beside this one. */
const sixthSchema = `${fifthSchema.replace('user_version = 5', 'user_version = 6')}
create table sent_delete (path text primary key, at integer not null) without rowid;
`

let temporary: TemporaryFolder
let service: TestService
let client: Client
let stateDir: string

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  service = await startTestService()
  client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  stateDir = join(temporary.path, 'state')
})

afterEach(async () => {
  await client.close()
  await service.close()
  await temporary.remove()
})

function leaveUnsent(schema: string, rows: string): void {
  mkdirSync(join(stateDir, 'spool'), { recursive: true, mode: 0o700 })
  const db = new Database(join(stateDir, 'journal.db'))
  db.exec('pragma journal_mode = wal')
  db.exec(schema)
  db.exec(rows)
  db.close()
}

/** Of either schema: opened, shown and sent. Answers how the small document was shown before. */
async function arrives(): Promise<Stat> {
  const large = Buffer.alloc(200_000, 'large ')
  writeFileSync(join(stateDir, 'spool', 'large-one'), large)
  writeFileSync(join(stateDir, 'spool', 'scratch-one'), 'the version before')
  const fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir,
    cacheDir: join(temporary.path, 'cache'),
  })
  const calls = objectDoor(fileSystem)
  expect((await calls.readdir('')).sort()).toEqual([
    'large.pdf',
    'made here',
    'notes.txt~',
    'small.txt',
    'to.txt',
  ])
  expect((await calls.readFile('/notes.txt~')).toString()).toBe('the version before')
  expect((await calls.readFile('/small.txt')).toString()).toBe('small')
  const small = await calls.stat('/small.txt')
  expect(await fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  expect(fileSystem.status().conflicts).toBe(2)
  await fileSystem.close()
  expect((await service.other.bytes('/large.pdf')).equals(large)).toBe(true)
  expect((await service.other.bytes('/small.txt')).toString()).toBe('small')
  expect((await service.other.bytes('/to.txt')).toString()).toBe('renamed here')
  expect((await service.other.get('/'))?.entries?.map(({ name }) => name).sort()).toEqual([
    'large.pdf',
    // Its document is gone.
    'notes.txt~',
    'small.txt',
    'to.txt',
  ])
  return small
}

test('what the first docmount left unsent is sent, and its local files, folders and times are there', async () => {
  await service.other.put('/gone.txt', 'deleted here while the service was away')
  await service.other.put('/from.txt', 'renamed here')
  leaveUnsent(
    firstSchema,
    `
    insert into intention values (1,'put','/large.pdf','large-one',200000,null,null,0,null,0,'[]',0,0,3,'ECONNREFUSED',0,5);
    insert into intention values (2,'put','/small.txt','small-one',5,null,null,0,null,1,'[]',0,0,0,null,0,6);
    insert into content values ('small-one', x'736d616c6c');
    insert into intention values (3,'delete','/gone.txt',null,null,null,null,0,null,0,'[]',0,0,0,null,0,7);
    insert into intention values (4,'put','/to.txt',null,12,'/from.txt',null,0,null,0,'[]',0,0,0,null,0,8);
    insert into folder values ('/made here');
    insert into scratch values ('/notes.txt~', 'scratch-one', null, null, null);
    insert into counter values ('conflicts', 2);`,
  )
  await arrives()
})

test.each([
  ['of the fourth schema', fourthSchema, ''],
  ['of the fifth schema', fifthSchema, ', 0, 0'],
  ['of today', sixthSchema, ', 0, 0'],
])(
  'what a docmount %s left unsent is sent, and its local files, folders and times are there',
  async (_, schema, more) => {
    expect(schemaVersion, 'a later schema needs such a test of its own').toBe(6)
    await service.other.put('/gone.txt', 'deleted here while the service was away')
    await service.other.put('/from.txt', 'renamed here')
    leaveUnsent(
      schema,
      `
    insert into intention values (1,'put','/large.pdf','large-one',200000,null,null,0,null,0,'[]',0,0,3,'ECONNREFUSED',0,5,'f284523bafc186468f09013d6bbef23782b7479ad759c52c4f34ed28786a517f',null,'3399d984ae5494d1');
    insert into intention values (2,'put','/small.txt','small-one',5,null,null,0,null,1,'[]',0,0,0,null,0,6,'81db8ebbbbc69c6c6ad4a6aa92b76e0c08af547da236b9e2c9dbe1d8285a8130',null,'8c0ea13c25a2c758');
    insert into intention values (3,'delete','/gone.txt',null,null,null,null,0,null,0,'[]',0,0,0,null,0,7,null,null,'a8e5397337679799');
    insert into intention values (4,'put','/to.txt',null,12,'/from.txt',null,0,null,0,'[]',0,0,0,null,0,8,null,null,'6cb9b560c4315d9e');
    insert into content values ('small-one', x'736d616c6c');
    insert into folder values ('/made here');
    insert into scratch values ('/notes.txt~', 'scratch-one', null, null, null, null, null${more});
    insert into attribute values ('/small.txt', 'unsent small-one', 384, 1000000000, 0, null, null);
    insert into dropped values (1, 'sent-one');
    insert into counter values ('conflicts', 2);`,
    )
    expect(await arrives()).toMatchObject({ mode: 0o600, mtimeNs: 1_000_000_000_000_000_000n })
  },
)
