// Moves an embedded store (a data folder) to PostgreSQL and shared storage. While its service runs, contents are copied. The
// last step needs the service stopped: it copies the remaining contents and all rows. A move that was killed continues when it
// is run again. Damaged contents are reported and copied as they are.
//
//   serving ──contents──→ serving ──(the service ends)──→ marked, never served again ──contents, rows──→ done

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { silentLog } from '../../log.ts'
import { type DamagedContent, damagedContent, refuseBackup } from '../backup/manifest.ts'
import { openSharedBackend } from '../blobs/open-shared-backend.ts'
import { loadSecret } from '../downloads/secret.ts'
import { StartError } from '../start-error.ts'
import { embeddedSchema, openEmbedded } from '../store/open-embedded.ts'
import { openStore } from '../store/open-store.ts'
import type { SharedPlace } from '../store/opened-store.ts'
import type { WholeContent } from '../store/postgres/blobs.ts'
import { lockDataDir } from '../store/service-lock.ts'
import { type DamagedSourceContent, type MoveTarget, keepDamaged, moveContents } from './move-contents.ts'
import { type MovedRows, isMoved, moveRows, refuseUsed } from './move-rows.ts'
import { readMark, writeMark } from './moved-mark.ts'
import { MoveSource } from './source.ts'

/** A pass that copied more contents is followed by another, so that little is left for the last step. */
const fewContents = 100
const maxPasses = 20

/** The result of a move. */
export type Move = {
  /** Number of contents that were copied. */
  readonly contents: number
  /** Absent where no content is damaged. */
  readonly damaged?: readonly DamagedContent[]
} & (
  | /** The service still runs; the last step is to do. */ { readonly state: 'copied' }
  | ({ readonly state: 'moved'; readonly lastStepMs: number } & MovedRows)
)

type Copied = Pick<Move, 'contents' | 'damaged'>

/** Throws a MoveError, a StartError, or an error of the engines; nothing is lost then, and it can be run again. */
export async function moveStore(dataDir: string, place: SharedPlace): Promise<Move> {
  refuseBackup(dataDir)
  await embeddedSchema(dataDir)
  const opened = await openStore(place)
  try {
    const backend = await openSharedBackend(place, opened.now)
    const target: MoveTarget = { store: opened.store, backend, now: opened.now }
    const mark = readMark(dataDir)
    // A move that is run again finds its own rows in the target.
    if (mark === undefined || !(await isMoved(opened.store, mark.id))) await refuseUsed(opened.store)
    // A marked source is in the last step, or past it.
    const before = mark === undefined ? await copyContents(dataDir, target) : { contents: 0 }
    const unlock = tryLock(dataDir)
    if (unlock === undefined) return { ...before, state: 'copied' }
    try {
      const startedAt = performance.now()
      const moved = await moveRest(dataDir, target, mark?.id ?? randomUUID())
      const lastStepMs = Math.round(performance.now() - startedAt)
      return { ...moved, state: 'moved', contents: before.contents + moved.contents, lastStepMs }
    } finally {
      unlock()
    }
  } finally {
    await opened.close()
  }
}

async function copyContents(dataDir: string, target: MoveTarget): Promise<Copied> {
  const source = new MoveSource(dataDir)
  try {
    source.check()
    let contents = 0
    for (let pass = 1; ; pass++) {
      const { copied, damaged } = await moveContents(source, target)
      contents += copied
      if (copied > fewContents && pass < maxPasses) continue
      return { contents, ...damageReport(source, damaged) }
    }
  } finally {
    source.close()
  }
}

function damageReport(source: MoveSource, damaged: readonly DamagedSourceContent[]): Pick<Move, 'damaged'> {
  if (damaged.length === 0) return {}
  return {
    damaged: damaged.map(({ sha256, kept }) => damagedContent(sha256, kept, source.documentsOf(sha256))),
  }
}

/** Locks the data folder. Undefined while a service has it locked. */
function tryLock(dataDir: string): (() => void) | undefined {
  try {
    return lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof StartError) return undefined
    throw error
  }
}

async function moveRest(dataDir: string, target: MoveTarget, id: string): Promise<MovedRows & Copied> {
  await clearDetached(dataDir)
  const source = new MoveSource(dataDir)
  try {
    source.check()
    // The mark comes before the rows: from now on no service may change the source.
    await writeMark(dataDir, { id, isDone: false })
    const { copied, damaged: found, gone } = await moveContents(source, target)
    // No service runs that could have deleted them: they are lost.
    const damaged = [...found, ...gone.map((content) => ({ ...content, kept: undefined }))]
    const asTheyAre: WholeContent[] = []
    for (const content of damaged) asTheyAre.push(await keepDamaged(source, target, content))
    const secret = (await loadSecret(join(dataDir, 'download-secret'))).current
    const rows = await moveRows(source, target.store, { id, secret, now: target.now(), damaged: asTheyAre })
    await writeMark(dataDir, { id, isDone: true })
    return { ...rows, contents: copied, ...damageReport(source, damaged) }
  } finally {
    source.close()
  }
}

/** Migrates the tables of the source, and removes the rows below deleted folders, as its service would. */
async function clearDetached(dataDir: string): Promise<void> {
  const opened = await openEmbedded(dataDir)
  try {
    const contents = await opened.openContents(silentLog)
    while ((await opened.commits.run('clearDetached', {})) !== undefined);
    await contents.whenIdle()
  } finally {
    await opened.close()
  }
}
