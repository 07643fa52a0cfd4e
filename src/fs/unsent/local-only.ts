// Files that are on this machine only, and how each becomes a document or is named: nothing stays here unsaid. A temporary
// that has been quiet for a minute is somebody's document after all, and is sent.

import type { Clock } from '../../clock.ts'
import { isBackupName, whyLocal } from '../tree/scratch.ts'
import { ErrnoError } from '../../errno-error.ts'
import { bringHere } from './content.ts'
import type { Node } from '../tree/node.ts'
import type { LocalFile } from '../status.ts'
import type { Superblock } from '../superblock.ts'
import { submit } from './submit.ts'

/** How long a file must have been left alone before it is taken for a document (ms). */
export const defaultSettleAfterMs = 60_000

interface Watched {
  /** When it came to be here only, and when it is looked at next; by the steady clock (ms). */
  readonly since: number
  dueAt: number
  /** What was found against sending it. */
  why: string | undefined
}

export class LocalOnly {
  readonly #settleAfterMs: number
  readonly #clock: Clock
  readonly #settle: (node: Node) => Promise<string | undefined>
  readonly #files = new Map<Node, Watched>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** `settle` answers why a file stays; it is asked again after the same time. */
  constructor(settleAfterMs: number, clock: Clock, settle: (node: Node) => Promise<string | undefined>) {
    this.#settleAfterMs = settleAfterMs
    this.#clock = clock
    this.#settle = settle
  }

  /** The file is here only, and was changed just now. */
  changed(node: Node): void {
    const now = this.#clock.steady()
    const known = this.#files.get(node)
    this.#files.set(node, {
      since: known?.since ?? now,
      dueAt: now + this.#settleAfterMs,
      why: undefined,
    })
    this.#arm()
  }

  /** An earlier run left the file here; `isDocument`: by today's rules it never should have stayed. */
  found(node: Node, isDocument: boolean): void {
    const dueAt = this.#clock.steady() + (isDocument ? 0 : this.#settleAfterMs)
    this.#files.set(node, { since: -Infinity, dueAt, why: undefined })
    this.#arm()
  }

  /** What has been here only for longer than a file is given to become a document. */
  *lasting(): Iterable<[Node, string | undefined]> {
    const before = this.#clock.steady() - this.#settleAfterMs
    for (const [node, { since, why }] of this.#files)
      if (isHereOnly(node) && since <= before) yield [node, why]
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed || this.#files.size === 0) return
    let dueAt = Infinity
    for (const watched of this.#files.values()) dueAt = Math.min(dueAt, watched.dueAt)
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, dueAt - this.#clock.steady()))
  }

  async #look(): Promise<void> {
    const now = this.#clock.steady()
    for (const [node, watched] of this.#files) {
      if (!isHereOnly(node)) this.#files.delete(node)
      else if (watched.dueAt <= now) {
        // Looked at again: what kept it here may have gone.
        watched.dueAt = now + this.#settleAfterMs
        watched.why = await this.#settle(node)
        if (this.#isClosed) return
      }
    }
    this.#arm()
  }
}

function isHereOnly(node: Node): boolean {
  return node.isScratch && !node.isUnlinked
}

/** A file that is here only has been left alone: it is sent where it is a document, otherwise this answers why not. */
export async function settle(sb: Superblock, node: Node): Promise<string | undefined> {
  try {
    return await settled(sb, node)
  } catch (error) {
    if (error instanceof ErrnoError && error.code === 'EOPNOTSUPP') return error.message
    const why = `could not be looked at: ${(error as Error).message}`
    sb.log.warn(
      { path: node.path, error: String(error) },
      'a file that is on this machine only cannot be sent yet',
    )
    return why
  }
}

async function settled(sb: Superblock, node: Node): Promise<string | undefined> {
  const { parent } = node
  if (parent === undefined || node.door.writeHandles > 0) return undefined
  const listing = await sb.tree.listing(parent)
  const why = whyLocal(node.name, (name) => sb.tree.child(parent, name, listing) !== undefined)
  if (why !== undefined) return why
  if (node.content === undefined && node.version === undefined) return 'its content is missing'
  await bringHere(sb, node, AbortSignal.timeout(600_000))
  const { content } = node
  if (content === undefined) return undefined
  await sb.types.mimetypeOf(node.name, async () => content.read(0, 4096))
  const epoch = content.epoch
  await sb.spool.secure(content)
  // Much may have happened meanwhile.
  if (!isHereOnly(node) || node.door.writeHandles > 0 || node.content !== content) return undefined
  sb.journal.transaction(() => {
    sb.journal.onRollback(node.remembered())
    sb.journal.removeScratch(node.path)
    node.local.becomeDocument()
    node.unsent.mayReplace(undefined)
    submit(sb, node, content, epoch)
  })
  sb.log.info({ path: node.path }, 'left alone, so it is a document: it is sent')
  return undefined
}

/** What `status` names: files that have been on this machine only for a while. */
export function localFiles(sb: Superblock): LocalFile[] {
  return [...sb.localOnly.lasting()].map(([node, why]) => ({
    path: node.path,
    bytes: node.size ?? 0,
    why: why === undefined || node.door.writeHandles > 0 ? whyHere(node) : why,
  }))
}

/** Why a file is on this machine only, as far as its name and its use tell. */
export function whyHere(node: Node): string {
  return node.door.writeHandles > 0 ? 'open in a program' : reasonByName(node)
}

function reasonByName({ parent, name }: Node): string {
  const why = whyLocal(name, (other) => parent?.folder?.children.has(other) === true)
  return why ?? (isBackupName(name) ? 'sent when it has been left alone for a minute' : 'waits to be sent')
}
