// One moment of a data folder: a snapshot of the database, with every content to which it refers, for a backup in a folder or a
// bucket. If a content was deleted before it is copied, a newer snapshot is taken; contents copied so far are not copied again.

import { join } from 'node:path'
import { isMissing } from '../blobs/disk.ts'
import { isDamage } from '../store/connection.ts'
import { embeddedSchema } from '../store/open-embedded.ts'
import { BackupError, type Manifest, contentPath, damagedContent, databaseName } from './manifest.ts'
import { type SnapshotContents, documentsOf, readSnapshot, takeSnapshot } from './snapshot.ts'

/** Snapshots taken at most, when documents are deleted faster than copied. */
const maxMoments = 50
/** A content that is missing after so many snapshots is lost: a deleted document leaves the database before its content. */
const maxMisses = 3

/** Stores the contents of a backup: `FolderKeeper`, `BucketKeeper`. */
export interface ContentKeeper {
  /** SHA-256 of contents that are shared with an earlier backup. */
  readonly already: ReadonlySet<string>
  /**
   * Stores the content in `file`; returns the SHA-256 of the stored bytes: another one where `file` is damaged. Throws a
   * BackupError where it cannot be written, the system's error where `file` cannot be read.
   */
  keep(sha256: string, file: string): Promise<string>
  /** Makes the contents stored so far durable. */
  sync(): Promise<void>
}

export interface KeptMoment {
  readonly snapshot: SnapshotContents
  /** SHA-256 of the stored bytes of each content; undefined where nothing could be read. */
  readonly kept: ReadonlyMap<string, string | undefined>
  /** How many of its contents are shared with an earlier backup. */
  readonly linked: number
}

/** Copies the database to the file `database`, and stores its contents. Throws a BackupError; a StartError for a newer version. */
export async function keepMoment(
  dataDir: string,
  database: string,
  keeper: ContentKeeper,
): Promise<KeptMoment> {
  // Refuses a database of a newer version.
  await embeddedSchema(dataDir).catch((error: unknown) => {
    // `takeSnapshot` reports damage, as a BackupError.
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
        if (isMissing(error) && misses < maxMisses) isWhole = false
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

/** `database`: the copied file; `digests`: SHA-256 of the files beside the contents, by name. */
export function manifestOf(
  database: string,
  { snapshot, kept, linked }: KeptMoment,
  digests: Manifest['digests'],
): Manifest {
  const { projects, documents, contents } = snapshot
  const damagedInFiles = [...contents.keys()].filter((sha256) => kept.get(sha256) !== sha256)
  const damaged = [...damagedInFiles, ...snapshot.damaged].map((sha256) =>
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
