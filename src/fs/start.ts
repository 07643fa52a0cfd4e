// A filesystem begins and ends: what an earlier run left unsent is taken up before the first call, and all work has ended after
// the last. assemble.ts makes its parts.

import { assemble } from './assemble.ts'
import type { FileSystemOptions } from './contract.ts'
import type { Superblock } from './superblock.ts'
import { isUnreachable } from './tree/folder-source.ts'
import { recover } from './unsent/recovery.ts'
import { sweepSpool } from './unsent/sweep-spool.ts'

/** Opens journal and spool, takes up what is unsent, lists the root. Throws as `createFileSystem`. */
export async function start(options: FileSystemOptions): Promise<Superblock> {
  const sb = assemble(options)
  try {
    // First: as soon as the queue runs, files go because they are sent.
    await sweepSpool(sb)
    await recover(sb)
    // Where the service is away, the last saved listing stands in for it.
    await sb.tree.loadFresh(sb.tree.nodes.root).catch((error: unknown) => goOnWithWhatIsKept(sb, error))
    sb.pins.look()
    return sb
  } catch (error) {
    await stop(sb)
    throw error
  }
}

/** No listing is to be had, nor any that was saved: what is unsent is reached all the same, and is sent when the service is back. */
function goOnWithWhatIsKept({ tree, queue, log }: Superblock, error: unknown): void {
  const isAnythingKept =
    (tree.nodes.root.folder?.kept.size ?? 0) > 0 || !queue.jobs()[Symbol.iterator]().next().done
  if (!isUnreachable(error) || !isAnythingKept) throw error
  log.warn(
    { error: String(error) },
    'what the service has is not known, and it is away: only what is kept on this machine is shown',
  )
}

/** Ends all work; what is unsent stays journaled. */
export async function stop(sb: Superblock): Promise<void> {
  sb.files.close()
  await sb.pins.close()
  sb.tree.listings.close()
  sb.localOnly.close()
  // The disk may take now what it refused a moment ago; later no step asks it.
  await sb.saveFailures.tryNow()
  await sb.saveFailures.close()
  sb.refusedNames.close()
  await sb.queue.close()
  await sb.undo.close()
  // The cache takes over what has arrived once the journal's rows are durable.
  await sb.journal.durable().catch(() => {})
  await sb.reader.close()
  sb.saved.close()
  // Once the journal is durable, files that are of no more use go; on a disk that cannot be written the next start removes them.
  await sb.journal.durable().catch(() => {})
  sb.journal.close()
}
