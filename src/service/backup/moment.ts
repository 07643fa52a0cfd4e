// One moment of a data folder, wherever its backup goes. A content that is gone by the time it is copied was deleted since: a
// newer moment is taken, and what was kept already stays.

import { join } from 'node:path'
import { isMissing } from '../blobs/disk.ts'
import { isDamage } from '../store/connection.ts'
import { embeddedSchema } from '../store/open-embedded.ts'
import { BackupError, type Manifest, contentPath, damagedContent, databaseName } from './manifest.ts'
import { type SnapshotContents, documentsOf, readSnapshot, takeSnapshot } from './snapshot.ts'

/** Moments taken at most, when documents are deleted faster than copied. */
const maxMoments = 50
/** The database forgets a document before its content goes: what later moments name again, and is not there, is lost. */
const mostMisses = 3

/** Where contents are kept. */
export interface ContentKeeper {
  /** Contents that an earlier backup has brought. */
  readonly already: ReadonlySet<string>
  /**
   * Keeps the content in `file`, under its hash; answers the SHA-256 of what it keeps. Throws a BackupError where that cannot be
   * written, the system's error where `file` cannot be read.
   */
  keep(sha256: string, file: string): Promise<string>
  /** Makes durable what was kept so far. */
  sync(): Promise<void>
}

export interface KeptMoment {
  readonly snapshot: SnapshotContents
  /** SHA-256 of what there is of each content; undefined where nothing could be read. */
  readonly kept: ReadonlyMap<string, string | undefined>
  /** How many of its contents an earlier backup has brought. */
  readonly linked: number
}

/** Copies the database to `database`, and keeps its contents. Throws a BackupError, or a StartError for a newer database. */
export async function keepMoment(
  dataDir: string,
  database: string,
  keeper: ContentKeeper,
): Promise<KeptMoment> {
  await embeddedSchema(dataDir).catch((error: unknown) => {
    // Damage is told below.
    if (!isDamage(error)) throw error
  })
  const kept = new Map<string, string | undefined>()
  const missed = new Map<string, number>()
  for (let moment = 1; moment <= maxMoments; moment++) {
    await takeSnapshot(join(dataDir, databaseName), database)
    const snapshot = readSnapshot(database)
    let isWhole = true
    for (const sha256 of snapshot.contents.keys()) {
      if (kept.has(sha256)) continue
      try {
        kept.set(sha256, await keeper.keep(sha256, join(dataDir, 'blobs', contentPath(sha256))))
      } catch (error) {
        if (error instanceof BackupError) throw error
        const misses = (missed.get(sha256) ?? 0) + 1
        missed.set(sha256, misses)
        if (isMissing(error) && misses < mostMisses) isWhole = false
        else kept.set(sha256, undefined)
      }
    }
    await keeper.sync()
    if (!isWhole) continue
    const linked = [...snapshot.contents.keys()].filter((sha256) => keeper.already.has(sha256)).length
    return { snapshot, kept, linked }
  }
  throw new BackupError('documents are deleted faster than copied')
}

/** `database`: the copy; `digests` of the files beside the contents. */
export function manifestOf(
  database: string,
  { snapshot, kept, linked }: KeptMoment,
  digests: Manifest['digests'],
): Manifest {
  const { projects, documents, contents } = snapshot
  const inFiles = [...contents.keys()].filter((sha256) => kept.get(sha256) !== sha256)
  const damaged = [...inFiles, ...snapshot.damaged].map((sha256) =>
    damagedContent(sha256, kept.get(sha256), documentsOf(database, sha256)),
  )
  return {
    format: 1,
    made_at: new Date().toISOString(),
    projects,
    documents,
    contents: contents.size,
    bytes: [...contents.values()].reduce((sum, size) => sum + size, 0),
    ...(linked === 0 ? {} : { linked }),
    digests,
    ...(damaged.length === 0 ? {} : { damaged }),
  }
}
