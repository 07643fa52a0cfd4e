// Saving: a changed document is journaled as an intention with its content, and handed to the commit queue. Programs call it by
// close and fsync, which wait here for the service; renames and repeated attempts call it, too.

import type { Job } from '../../content/commit/job.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { UndoableMap } from '../../content/spool/undo.ts'
import { backupGraceMs, keepBackup, defer, type BackupParts, type DeferredBackup } from './backup.ts'
import { revertRename } from './revert-rename.ts'
import { discardContent, type DiscardParts } from './content.ts'
import { persistScratch } from './local-rows.ts'
import { giveToCache, type CacheParts } from './give-to-cache.ts'
import type { Caller } from '../operations.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import type { OlderPlace } from '../tree/parts/unsent.ts'
import type { Bursts } from './bursts.ts'
import type { CloseWait } from './close-wait.ts'
import { isUnsubmitted } from './unsubmitted.ts'
import type { Undecided } from './undecided.ts'
import { isCopyMade, type OwnCopyParts } from './own-copy.ts'

/** Parts that saving a document needs. */
export interface SavesParts extends Omit<BackupParts, 'deferred'>, OwnCopyParts, DiscardParts, CacheParts {
  readonly closeWait: CloseWait
  readonly bursts: Bursts
  readonly attributes: AttributeStore
  readonly undecided: Undecided
}

/** The part that a caller needs to save one. */
export interface SubmitParts {
  readonly saves: Saves
}

/** With close-wait 0: how long a document rests before it is sent, so that quick saves in a row become one. */
const quietMs = 200
/** How long a file that was only created or emptied rests: a browser's placeholder, `touch`, `: > f`. */
const untouchedQuietMs = 1_000

/** Saves documents. `submit` is the journaling that all ways of saving share. */
export class Saves {
  /** Documents that became backups a moment ago, and are not moved in the service yet, by the path they left (backup.ts). */
  readonly deferred: ReadonlyMap<string, DeferredBackup>
  readonly #parts: SavesParts & BackupParts

  constructor(parts: SavesParts) {
    const deferred = new UndoableMap<string, DeferredBackup>()
    this.deferred = deferred
    this.#parts = { ...parts, deferred }
  }

  /**
   * Journals the node's content as it is now, and hands it to the queue. Resolves when the content survives a power cut. Throws the
   * disk's error: then `status` names the document, and it is tried again.
   */
  async commit(node: Node): Promise<Job | undefined> {
    try {
      return await this.#journalNow(node)
    } catch (error) {
      if (node.content !== undefined) this.#parts.spool.describe(node.content, node.path)
      this.#parts.saveFailures.refused(node, error)
      throw error
    }
  }

  async #journalNow(node: Node): Promise<Job | undefined> {
    const { content } = node
    if (node.isLocalOnly) {
      await persistScratch(this.#parts, node)
      return undefined
    }
    if (content === undefined) return this.submit(node, undefined, -1)
    // A write during the sync goes into a copy, which its own close saves.
    return this.#parts.claims.hold(content, async () => {
      const { epoch } = content
      await this.#parts.spool.secure(content)
      // A later close may have been faster.
      if (node.isUnlinked || node.isLocalOnly || node.unsent.isNewerThan(content)) return node.job
      return this.submit(node, content, epoch)
    })
  }

  /**
   * The journaling half of `commit`. `content` was synced as of `securedEpoch` (`Spool.secure`); undefined for a move, or a copy that
   * the service makes. Sent after `deferMs`. Returns undefined if nothing has to be sent.
   */
  submit(
    node: Node,
    content: SpoolFile | undefined,
    securedEpoch: number,
    deferMs: number = usualRestMs(this.#parts.closeWait, node),
  ): Job | undefined {
    const job = this.#parts.journal.transaction(() => {
      keepBackup(this.#parts, node.path)
      const handedIn = journalPut(this.#parts, node, content, deferMs)
      this.#parts.attributes.saveWithChange(node, handedIn?.intention)
      return handedIn
    })
    // All of them: a folder that the service knows nothing of may have been moved into one that it knows.
    for (let above = node.parent; above?.folder !== undefined; above = above.parent) {
      if (above.folder.isOnlyHere) above.folder.handIn()
    }
    this.#parts.owners.handIn(node, job, {
      content,
      epoch: content === node.content ? securedEpoch : undefined,
    })
    // The document is back at its old path, after a rename that was refused or not sent yet.
    if (job === undefined) revertRename(this.#parts.tree, node)
    return job
  }

  /** Like `submit`, for a file that was on this machine only and is a document from now on. */
  submitDecided(node: Node, content: SpoolFile, securedEpoch: number): void {
    this.#parts.journal.transaction(() => {
      this.#parts.journal.localFiles.remove(node.path)
      node.local.publish()
      node.unsent.mayReplace(undefined)
      this.submit(node, content, securedEpoch)
    })
  }

  /** Like `submit`, for a document that became a backup: it rests, since a new document may come to the path `left` (backup.ts). */
  submitBackup(node: Node, securedEpoch: number, left: string): void {
    const job = this.submit(node, node.content, securedEpoch, backupGraceMs)
    if (job !== undefined) defer(this.#parts, left, { node, job })
  }

  /**
   * Called when a document was renamed while a program writes it. Its close commits the new content, under the new name. Until then
   * the journal has the content of the last close: `accepted` is its spool file (undefined: the service has it), `set` its
   * attributes. A document that was never closed needs nothing.
   */
  commitAtClose(node: Node, accepted: string | undefined, set: AttributeRow | undefined): undefined {
    const content = accepted === undefined ? undefined : this.#parts.spool.get(accepted)
    if (content === undefined && node.unsent.movesFrom === undefined) return
    const job = this.submit(node, content, -1)
    this.#parts.attributes.moveToChange(node, set)
    if (job === undefined) this.#parts.attributes.settled(node)
    else this.#parts.queue.hold(job)
  }

  /**
   * close(2): commits what was written since the last commit, and waits as long as close may. Before the first write it
   * sends nothing (shells flush first); a refusal stays the answer until a later commit succeeds.
   */
  async flush(node: Node, caller: Caller): Promise<void> {
    if (node.isUnlinked) return
    if (node.isLocalOnly) return await this.#flushLocal(node, caller)
    if (isUnsubmitted(node)) {
      if (!node.local.isWritten) {
        // The saved version is not given up for a file that its program may be about to fill: the last close decides.
        if (!isKnown(node)) this.#journalUntouched(node)
        return
      }
      const job = await this.commit(node)
      if (job === undefined) return
      const { bursts, closeWait } = this.#parts
      const save = { job, size: node.size ?? 0, caller }
      await bursts.closed(save, (each) => closeWait.wait(each, caller.signal))
      await this.#saveUnmadeCopy(node, job, caller.signal)
    } else if (node.job?.intention.isRefused === true) {
      throw node.job.error
    }
  }

  /** fsync(2): as flush, and it waits for what is on its way already, too. */
  async fsync(node: Node, signal: AbortSignal): Promise<void> {
    if (node.isUnlinked) {
      await node.content?.sync()
      return
    }
    if (node.isLocalOnly && this.#parts.undecided.isDecidedBySync(node)) await this.#makeDocument(node)
    const job = isUnsubmitted(node) ? await this.commit(node) : node.job
    if (job === undefined) {
      await this.#parts.journal.durable()
      return
    }
    if (job.intention.isRefused) throw job.error
    this.#parts.queue.runNow((intention) => intention === job.intention)
    await this.#parts.closeWait.wait(job, signal)
    await this.#saveUnmadeCopy(node, job, signal)
  }

  /** The close of a local-only file: journals it, and throws EOPNOTSUPP afterwards if its content is no document of a stored type. */
  async #flushLocal(node: Node, caller: Caller): Promise<void> {
    const { isDying = false } = caller
    if (!isUnsubmitted(node) && !isDying) return
    node.local.closed(isDying)
    await this.commit(node)
    // The program is being killed, and gets no answer.
    if (isDying) return
    await this.#parts.undecided.closes(node)
    this.#parts.bursts.closedHere(caller)
  }

  /** Makes a file whose name tells no type a document, at its fsync. Throws EOPNOTSUPP if its content is of no stored type. */
  async #makeDocument(node: Node): Promise<void> {
    const { content } = node
    if (content === undefined) return
    await this.#parts.undecided.closes(node)
    await this.#parts.claims.hold(content, async () => {
      const { epoch } = content
      await this.#parts.spool.secure(content)
      if (node.isLocalOnly && !node.isUnlinked && node.content === content)
        this.submitDecided(node, content, epoch)
    })
  }

  /** The last close of a handle (RELEASE): commits content that no flush did, and gives saved content to the cache. */
  async released(node: Node): Promise<void> {
    try {
      if (node.isUnlinked) {
        discardContent(this.#parts, node)
      } else if (node.door.writeHandles === 0) {
        if (isUnsubmitted(node)) await this.commit(node)
        else if (node.job?.isHeld === true) this.#parts.queue.release(node.job)
        else if (!node.isDirty) giveToCache(this.#parts, node)
      }
    } finally {
      if (node.door.openHandles === 0) node.content?.idle()
    }
    this.#parts.tree.nodes.dropIfUnused(node)
  }

  /**
   * Journals a file that was only created so far, so that a kill does not undo it. It is not sent before its last writer closes it,
   * since most programs write next (a shell flushes before the command it redirects has begun).
   */
  #journalUntouched(node: Node): void {
    const job = this.submit(node, node.content, node.content?.epoch ?? -1)
    if (job !== undefined) this.#parts.queue.hold(job)
  }

  /** Saves the content of a copy that the service has not made yet, once it is on this machine. Does nothing for other documents. */
  async #saveUnmadeCopy(node: Node, job: Job, signal: AbortSignal): Promise<void> {
    if (await isCopyMade(this.#parts, node, job, signal)) return
    this.#parts.journal.transaction(() => {
      if (this.#parts.queue.withdraw(job)) this.#parts.owners.withdraw(node)
    })
    await this.commit(node)
    await this.#parts.journal.durable()
  }
}
/** Journals a `put` with its content, in the transaction under way. Returns undefined if nothing has to be sent. */
function journalPut(
  { queue, spool, owners }: Pick<SavesParts, 'queue' | 'spool' | 'owners'>,
  node: Node,
  content: SpoolFile | undefined,
  deferMs: number,
): Job | undefined {
  const source = sourceOf(node)
  if (content === undefined && source?.path === node.path) {
    // The document is back at the path where the service has it, or will have it: there is nothing to move.
    const arriving = queue.find(node.path)
    return arriving !== undefined && owners.of(arriving.intention) === node ? arriving : undefined
  }
  const job = queue.submit({
    kind: 'put',
    path: node.path,
    spool: content?.id,
    // Without content of its own, the size of the version that is moved or copied: the document may be longer by now.
    size: (content ?? node.stored).size,
    digest: content?.digest,
    base: node.unsent.base,
    deferMs,
    ...(source !== undefined && source.path !== node.path
      ? { source: source.path, sourceFingerprint: source.fingerprint, keepSource: node.unsent.isCopy }
      : {}),
  })
  // A delete that the put became in the queue, of a version it left on its way, is no change of this document.
  if (job?.intention.kind !== 'put') return undefined
  if (content !== undefined) spool.journal(content, node.path)
  return job
}

/** The place from which the next commit moves or copies the document: its older path, or the path of a version that is not here. */
export function sourceOf(node: Node): OlderPlace | undefined {
  if (node.unsent.movesFrom !== undefined) return node.unsent.movesFrom
  const { elsewhere, fingerprint } = node.stored
  if (elsewhere === undefined || node.content !== undefined) return undefined
  return { path: elsewhere, fingerprint }
}

function usualRestMs(closeWait: CloseWait, node: Node): number {
  if (node.content !== undefined && !node.local.isWritten) return untouchedQuietMs
  return closeWait.isNone ? quietMs : 0
}

/** True if the service has a version of the document, or an earlier close was accepted. */
function isKnown(node: Node): boolean {
  return node.remote !== undefined || node.job !== undefined
}
