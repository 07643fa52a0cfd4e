// Copies the contents of a move to the target's storage. Each is read back and compared with its SHA-256 before the target's
// database gets its row. Contents that the target has are skipped, so an interrupted move continues. Damaged ones are copied
// as they are, in the last step, with the rows.

import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { SharedBackend, StagedBlob } from '../blobs/backend.ts'
import { contentPath } from '../backup/manifest.ts'
import type { Store } from '../store/database.ts'
import { adopt, type WholeContent } from '../store/postgres/blobs.ts'
import { sharedStore } from '../store/postgres/database.ts'
import { MoveError } from './move-error.ts'
import type { MoveSource, SourceContent } from './source.ts'

const batchContents = 500
/** Contents copied at the same time: a bucket is slow to answer, and takes several uploads at once. */
const concurrency = 4

export interface MoveTarget {
  readonly store: Store
  readonly backend: SharedBackend
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A content whose bytes do not have its SHA-256, or cannot be read. */
export interface DamagedSourceContent extends SourceContent {
  /** SHA-256 of its bytes; undefined where they cannot be read. */
  readonly kept: string | undefined
}

export interface MovedContents {
  readonly copied: number
  /** Contents that are not copied, because they are damaged. */
  readonly damaged: readonly DamagedSourceContent[]
  /** Contents that are missing; a running service may have removed them since they were listed. */
  readonly gone: readonly SourceContent[]
}

/** Copies the contents that the target lacks. Throws a MoveError where the target's storage damages them. */
export async function moveContents(source: MoveSource, target: MoveTarget): Promise<MovedContents> {
  const found = { copied: 0, damaged: new Array<DamagedSourceContent>(), gone: new Array<SourceContent>() }
  const contents = source.contents()
  for (let at = 0; at < contents.length; at += batchContents) {
    const batch = contents.slice(at, at + batchContents)
    const known = await knownOf(target.store, batch)
    const missing = batch.filter(({ sha256 }) => !known.has(sha256))
    const copyNext = async (): Promise<void> => {
      for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
        const outcome = await moveContent(source, target, next)
        if (outcome === 'copied') found.copied++
        else if (outcome === 'gone') found.gone.push(next)
        else found.damaged.push({ ...next, ...outcome })
      }
    }
    await Promise.all(Array.from({ length: concurrency }, copyNext))
  }
  return found
}

async function knownOf(store: Store, contents: readonly SourceContent[]): Promise<Set<string>> {
  const rows = await sharedStore(store)
    .selectFrom('blobs')
    .select('sha256')
    .where(
      'sha256',
      'in',
      contents.map(({ sha256 }) => sha256),
    )
    .execute()
  return new Set(rows.map(({ sha256 }) => sha256))
}

async function moveContent(
  source: MoveSource,
  target: MoveTarget,
  { sha256, isSmall }: SourceContent,
): Promise<'copied' | 'gone' | Pick<DamagedSourceContent, 'kept'>> {
  const { store, now } = target
  if (isSmall) {
    const bytes = source.small(sha256)
    if (bytes === undefined) return 'gone'
    const kept = digestOf(bytes)
    if (kept !== sha256) return { kept }
    await adopt(store, { sha256, size: bytes.byteLength, bytes }, now())
    return 'copied'
  }
  const staged = await stage(source, target, sha256)
  if (staged === 'gone') return staged
  if (staged === 'unreadable') return { kept: undefined }
  try {
    if (staged.sha256 !== sha256) return { kept: staged.sha256 }
    const key = await publish(target, staged)
    // Another upload may have brought the content to the target meanwhile.
    if ((await adopt(store, { sha256, size: staged.size, key }, now())) !== key)
      await target.backend.remove(key)
    return 'copied'
  } finally {
    await staged.discard()
  }
}

/** Copies a damaged content as it is, if it can be read. The caller adds the row for the returned content. */
export async function keepDamaged(
  source: MoveSource,
  target: MoveTarget,
  { sha256, size, isSmall }: SourceContent,
): Promise<WholeContent> {
  const bytes = isSmall ? source.small(sha256) : undefined
  if (bytes !== undefined) return { sha256, size, bytes }
  const staged = await stage(source, target, sha256)
  // The row of an unreadable content gets a random key, under which there is no blob: the content stays missing.
  if (typeof staged === 'string') return { sha256, size, key: randomBytes(32).toString('hex') }
  try {
    return { sha256, size, key: await publish(target, staged) }
  } finally {
    await staged.discard()
  }
}

async function stage(
  { dataDir }: MoveSource,
  { backend }: MoveTarget,
  sha256: string,
): Promise<StagedBlob | 'unreadable' | 'gone'> {
  const chunks = createReadStream(join(dataDir, 'blobs', contentPath(sha256)))
  let readError: NodeJS.ErrnoException | undefined
  chunks.on('error', (error) => (readError = error))
  const writer = await backend.stage()
  try {
    for await (const chunk of chunks) await writer.write(chunk as Buffer)
    return await writer.finish()
  } catch (error) {
    await writer.discard()
    if (readError === undefined || error !== readError) throw error
    return readError.code === 'ENOENT' ? 'gone' : 'unreadable'
  }
}

/** Publishes a blob, reads it back, and returns its key. Throws a MoveError when the digest differs. */
async function publish({ backend }: MoveTarget, staged: StagedBlob): Promise<string> {
  const key = await backend.publish(staged)
  const hash = createHash('sha256')
  const bytes = staged.size === 0 ? [] : await backend.stream(key, 0, staged.size - 1)
  for await (const chunk of bytes ?? []) hash.update(chunk as Buffer)
  const found = hash.digest('hex')
  if (found === staged.sha256) return key
  throw new MoveError(
    `the store damages what it is given: the digest of a content is ${found}, and ought to be ${staged.sha256}`,
  )
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
