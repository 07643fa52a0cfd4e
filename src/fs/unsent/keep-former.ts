// Versions that a program here replaces or deletes are kept for undo, where their bytes are on this machine already. The service is
// told of the change after that.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { versionOf } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { Going } from '../../content/undo/record.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { UndoStore } from '../../content/undo/undo-store.ts'
import type { Claims } from './claims.ts'

export interface KeepFormerParts {
  readonly undo: UndoStore
  readonly reader: Reader
}

/** Resolves when they survive a power cut. Never rejects. */
export async function keepFormer({ undo, reader }: KeepFormerParts, all: readonly Going[]): Promise<void> {
  for (const going of all)
    await undo.keep(going, (take) => reader.readHere(versionOf(going.path, going.fingerprint), take))
  await undo.durable()
}

export interface KeepUnsentParts extends Pick<KeepFormerParts, 'undo'> {
  readonly claims: Claims
  readonly spool: Spool
  readonly queue: CommitQueue
}

/** A save that the service never heard of gave way to something newer: its content is kept, unless it lives on elsewhere. */
export async function keepUnsent(
  { undo, claims, spool, queue }: KeepUnsentParts,
  { path, spool: id }: Intention,
): Promise<void> {
  if (id === undefined || !spool.has(id)) return
  const content = spool.get(id)
  await claims.hold(content, async () => {
    // The transaction under way may give it to another.
    await Promise.resolve()
    if (!claims.isOnlyHeld(id)) return
    const how = queue.find(path)?.intention.kind === 'put' ? 'replaced' : 'deleted'
    await undo.keep({ path, how, fingerprint: `${content.size}@?` }, async (take) => {
      for await (const chunk of content.stream()) await take([chunk])
      return true
    })
    await undo.durable()
  })
}
