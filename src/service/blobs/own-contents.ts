// Whose contents lie beside an embedded database. To any other one, all or some of them are what nothing refers to, and the
// sweep would take them. So both write down the same at the first start, and at each start with contents.
//
//   no mark ──(no contents, or the database knows some)──→ a new id, 1 start ──→ same id, n starts on both sides
//   the database's id is another → another service's          its starts are fewer → an older copy

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
  readonly starts: number
}

const markName = 'database.json'
const batchBlobs = 200

/** Which of these hashes the database knows. */
type FindKnown = (sha256s: readonly string[]) => Promise<readonly string[]>

/** Throws a StartError, with the contents as they are, where the database is not the one they belong to, or an older copy of it. */
export async function checkContents(
  folder: string,
  store: Store,
  backend: BlobBackend,
  findKnown: FindKnown,
): Promise<void> {
  const file = join(folder, markName)
  const own = await store.selectFrom('contents_mark').selectAll().executeTakeFirst()
  const isEmpty = !holdsContents(folder)
  // Where nothing is kept yet any database will do, and gets its mark at once: what a crash leaves of its first upload would be
  // contents that nobody knows.
  const said = await readMark(file)
  const mark = isEmpty && said?.id !== own?.id ? undefined : said
  if (mark !== undefined && isEmpty) return
  if (mark === undefined) await checkKnown(folder, backend, findKnown)
  else if (own?.id !== mark.id)
    throw new StartError(
      `the contents in ${folder} belong to another database: bring their own service.db back, or choose another folder`,
    )
  else if (own.starts < mark.starts)
    throw new StartError(
      `service.db is older than the contents in ${folder}: bring the newer one back; to go on without what this one does not know, which is removed then, remove ${file}`,
    )
  // A full disk may refuse the new mark. The service can serve without it, and has to: deletions are what makes room.
  try {
    await remember(file, store, {
      id: mark?.id ?? randomUUID(),
      starts: mark === undefined ? 1 : (own?.starts ?? 0) + 1,
    })
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

/** Of a folder without a mark: a new one, a backup's, or one from before there were any. */
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

/** The database first: a crash in between leaves it ahead of the contents, which is no older copy. */
async function remember(file: string, store: Store, mark: Mark): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('contents_mark').execute()
    await transaction.insertInto('contents_mark').values(mark).execute()
  })
  await writeWhole(file, JSON.stringify(mark))
}

/** Undefined where there is none. Throws a StartError for one that is damaged. */
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
