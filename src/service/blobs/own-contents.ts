// Checks that an embedded database belongs to the folder of contents beside it. With a foreign or older database, no row refers
// to some of the contents, and the sweep would remove them. So database and folder each have a mark, which every start with
// contents renews:
//
//   no mark ──(no contents, or the database refers to some)──→ new id, 1 start ──→ same id, n starts in both marks
//   ids differ → another service's database          fewer starts in the database → an older copy of it

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDiskFull } from '../disk-full.ts'
import { parseJson } from '../../parse-json.ts'
import { writeWhole } from '../../write-whole.ts'
import { StartError } from '../start-error.ts'
import type { Store } from '../store/database.ts'
import type { BlobBackend } from './backend.ts'
import { holdsContents, isMissing } from './disk.ts'

interface Mark {
  readonly id: string
  /** Starts so far: fewer in an older copy. */
  readonly starts: number
}

const markName = 'database.json'
const batchBlobs = 200

/** Returns those of the hashes that rows of the database refer to. */
type FindKnown = (sha256s: readonly string[]) => Promise<readonly string[]>

/** Throws a StartError, and changes nothing, where the contents belong to another database, or to a newer copy of this one. */
export async function checkContents(
  folder: string,
  store: Store,
  backend: BlobBackend,
  findKnown: FindKnown,
): Promise<void> {
  const file = join(folder, markName)
  const databaseMark = await store.selectFrom('contents_mark').selectAll().executeTakeFirst()
  const isEmpty = !holdsContents(folder)
  // A folder without contents takes any database, and both are marked at once: a crash during the first upload may leave a
  // content to which no row refers.
  const folderMark = await readMark(file)
  const mark = isEmpty && folderMark?.id !== databaseMark?.id ? undefined : folderMark
  // The ids agree, and there is no content that could be lost.
  if (mark !== undefined && isEmpty) return
  if (mark === undefined) await checkKnown(folder, backend, findKnown)
  else if (databaseMark?.id !== mark.id)
    throw new StartError(
      `the contents in ${folder} belong to another database: bring their own service.db back, or choose another folder`,
    )
  else if (databaseMark.starts < mark.starts)
    throw new StartError(
      `service.db is older than the contents in ${folder}: bring the newer one back; to go on without what this one does not know, which is removed then, remove ${file}`,
    )
  // A full disk may refuse the new marks. The service starts without them, so that deletions can free space.
  try {
    await writeMarks(file, store, {
      id: mark?.id ?? randomUUID(),
      starts: mark === undefined ? 1 : (databaseMark?.starts ?? 0) + 1,
    })
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

/** Checks a folder without a mark: a new or restored one. Throws a StartError where the database refers to none of its contents. */
async function checkKnown(folder: string, backend: BlobBackend, findKnown: FindKnown): Promise<void> {
  let isEmpty = true
  for await (const sha256s of backend.list())
    for (let at = 0; at < sha256s.length; at += batchBlobs) {
      if ((await findKnown(sha256s.slice(at, at + batchBlobs))).length > 0) return
      isEmpty = false
    }
  if (!isEmpty)
    throw new StartError(
      `${folder} holds contents of documents, and service.db knows none of them: bring their own service.db back, or move ${folder} away`,
    )
}

/** The database is first: a crash in between leaves its count higher, which is no sign of an older copy. */
async function writeMarks(file: string, store: Store, mark: Mark): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('contents_mark').execute()
    await transaction.insertInto('contents_mark').values(mark).execute()
  })
  await writeWhole(file, JSON.stringify(mark))
}

/** Returns undefined where there is no mark. Throws a StartError for a damaged one. */
async function readMark(file: string): Promise<Mark | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const { id, starts } = (parseJson(text) ?? {}) as Partial<Mark>
  if (typeof id !== 'string' || typeof starts !== 'number')
    throw new StartError(
      `${file} is damaged: nobody knows whose contents these are; remove it where service.db is theirs`,
    )
  return { id, starts }
}
