// Contents, each read back and compared with its digest before the other store knows it. What is there already stays: a move
// that was cut off goes on where it was.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { SharedBackend, StagedBlob } from '../blobs/backend.ts'
import { contentPath } from '../backup/manifest.ts'
import type { Store } from '../store/database.ts'
import { adopt } from '../store/postgres/blobs.ts'
import { sharedStore } from '../store/postgres/database.ts'
import { MoveError } from './move-error.ts'
import type { Source, SourceContent } from './source.ts'

const batchContents = 500
/** To a bucket most of the time is waiting. */
const atOnce = 4

export interface Target {
  readonly store: Store
  readonly backend: SharedBackend
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Copies what is missing; answers how many that were. Throws a MoveError for content that is not what its digest says. */
export async function moveContents(source: Source, target: Target): Promise<number> {
  let copied = 0
  const contents = source.contents()
  for (let at = 0; at < contents.length; at += batchContents) {
    const batch = contents.slice(at, at + batchContents)
    const known = await knownOf(target.store, batch)
    const missing = batch.filter(({ sha256 }) => !known.has(sha256))
    const copyNext = async (): Promise<void> => {
      for (let next = missing.pop(); next !== undefined; next = missing.pop())
        if (await moveContent(source, target, next)) copied++
    }
    await Promise.all(Array.from({ length: atOnce }, copyNext))
  }
  return copied
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

/** False when it has gone meanwhile. */
async function moveContent(
  source: Source,
  target: Target,
  { sha256, isSmall }: SourceContent,
): Promise<boolean> {
  const { store, now } = target
  if (isSmall) {
    const bytes = source.small(sha256)
    if (bytes === undefined) return false
    compare(sha256, createHash('sha256').update(bytes).digest('hex'))
    await adopt(store, { sha256, size: bytes.byteLength, bytes }, now())
    return true
  }
  const staged = await stage(join(source.dataDir, 'blobs', contentPath(sha256)), target)
  if (staged === undefined) return false
  try {
    compare(sha256, staged.sha256)
    const key = await target.backend.publish(staged)
    compare(sha256, await digestThere(target, key, staged.size))
    if ((await adopt(store, { sha256, size: staged.size, key }, now())) !== key)
      await target.backend.remove(key)
    return true
  } finally {
    await staged.discard()
  }
}

async function stage(file: string, { backend }: Target): Promise<StagedBlob | undefined> {
  const writer = await backend.stage()
  try {
    for await (const chunk of createReadStream(file)) await writer.write(chunk as Buffer)
    return await writer.finish()
  } catch (error) {
    await writer.discard()
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function digestThere({ backend }: Target, key: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const bytes = await backend.stream(key, 0, size - 1)
  for await (const chunk of bytes ?? []) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function compare(sha256: string, found: string): void {
  if (found !== sha256)
    throw new MoveError(`a content is damaged: its digest is ${found}, and ought to be ${sha256}`)
}
