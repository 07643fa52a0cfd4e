// Content in a state folder that the service does not have, of a drive that is not mounted or whose daemon does not answer.
// Read only.

import { systemDisk } from '../world/disk.ts'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JournalContent } from '../content/spool/journal-reading.ts'
import type { LostContent } from '../content/spool/lost-and-found.ts'
import { filesSetAside } from '../content/spool/set-aside.ts'
import type { LocalFile, Unsent } from '../fs/status.ts'
import { isOwnName } from '../fs/tree/scratch.ts'
import { isInTrash } from '../fs/tree/trash.ts'
import { unsentOf } from '../fs/unsent/unsent-of.ts'
import { findStateFolders, type StateFolder } from './drive-file.ts'
import { servedStateFolders } from './own-records.ts'
import { stateReaders } from './state-readers.ts'

export interface LeftBehind {
  readonly unsent: readonly Unsent[]
  /** Temporary files that were never sent. */
  readonly localOnly: readonly LocalFile[]
  readonly lost: readonly LostContent[]
  /** Paths of damaged files that were set aside. */
  readonly damaged: readonly string[]
  /** Reason why the folder, its `drive.json` or the journal cannot be read. */
  readonly problem: string | undefined
}

/** A state folder without a daemon, and its content. */
export interface LeftFolder extends StateFolder {
  readonly left: LeftBehind
}

const nothing: LeftBehind = { unsent: [], localOnly: [], lost: [], damaged: [], problem: undefined }

/** Resolves with the content that the folder still holds. Never throws: see `problem`. */
export async function readLeftBehind(stateDir: string): Promise<LeftBehind> {
  let names: readonly string[]
  try {
    names = readdirSync(stateDir)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    return isMissing ? nothing : { ...nothing, problem: `${stateDir} cannot be read (${code})` }
  }
  if (!['journal.db', 'lost+found', 'spool'].some((name) => names.includes(name))) return nothing
  const damaged = filesSetAside(stateDir, systemDisk)
  const { LostAndFound, strayIn, readJournal } = await stateReaders()
  const spoolDir = join(stateDir, 'spool')
  const lost = new LostAndFound(stateDir, systemDisk).list()
  try {
    const journal = readJournal(stateDir)
    // Without a journal, all spool files are lost content.
    if (journal === undefined)
      return { ...nothing, damaged, lost: [...lost, ...strayIn(spoolDir, () => false, systemDisk)] }
    const stray = strayIn(spoolDir, wantedBy(journal), systemDisk)
    return { ...rowsOf(journal, spoolDir), damaged, lost: [...lost, ...stray], problem: undefined }
  } catch (error) {
    const stray = strayIn(spoolDir, () => false, systemDisk)
    return { ...nothing, damaged, lost: [...lost, ...stray], problem: (error as Error).message }
  }
}

/** Returns a test of a spool file's id: true if a row needs its content, or `dropped` has it (not needed, not removed yet). */
function wantedBy({ intentions, scratch, dropped }: JournalContent): (id: string) => boolean {
  const named = new Set([...intentions, ...scratch].map(({ spool }) => spool))
  return (id) => named.has(id) || dropped.has(id)
}

function rowsOf(journal: JournalContent, spoolDir: string): Pick<LeftBehind, 'unsent' | 'localOnly'> {
  const facts = { isRunning: false, now: Date.now(), spoolDir }
  const sizeOf = (spool: string): number | undefined =>
    journal.contents.get(spool)?.length ?? statSync(join(spoolDir, spool), { throwIfNoEntry: false })?.size
  return {
    unsent: journal.intentions.map((intention) => unsentOf(intention, facts)),
    localOnly: journal.scratch.flatMap(({ path, spool }) => {
      // Files that programs make for themselves (lock files) are of no interest, and the trash is not to be sent.
      const isIgnored = isOwnName(basename(path)) || isInTrash(path)
      const bytes = spool === undefined || isIgnored ? 0 : (sizeOf(spool) ?? 0)
      return bytes === 0 ? [] : [{ path, bytes, why: reasonLeft(basename(path)) }]
    }),
  }
}

/** Text about a temporary file. */
function reasonLeft(name: string): string {
  return name.endsWith('~') ? `a backup of ${name.slice(0, -1)}` : 'sent a minute after the next mount'
}

/** True if there is nothing to recover. */
export function isEmpty({ unsent, localOnly, lost, damaged, problem }: LeftBehind): boolean {
  return problem === undefined && [unsent, localOnly, lost, damaged].every(({ length }) => length === 0)
}

/** Resolves with the state folders of this user that have such content, or a problem, and no daemon. */
export async function findLeftFolders(): Promise<readonly LeftFolder[]> {
  const served = await servedStateFolders()
  const found: LeftFolder[] = []
  for (const folder of await findStateFolders()) {
    if (served.has(folder.stateDir)) continue
    const left = await readLeftBehind(folder.stateDir)
    const problems = [folder.problem, left.problem].filter((problem) => problem !== undefined)
    const problem = problems.length === 0 ? undefined : problems.join('; ')
    if (!isEmpty({ ...left, problem })) found.push({ ...folder, left: { ...left, problem } })
  }
  return found
}
