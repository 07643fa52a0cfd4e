// Files that are on this machine only: a temporary file that was not changed for a minute is taken for a document, and sent. One that
// has to stay is in `docmount status`, with the reason.

import type { Clock, Timer } from '../../world/clock.ts'
import { isUndecidedName, whyLocal } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import { isAtOrUnder } from '../../path.ts'
import type { Node } from '../tree/node.ts'
import type { LocalFile } from '../status.ts'

/** For how long a temporary file must be unchanged before it is taken for a document (ms). */
export const defaultTemporaryMs = 60_000

interface Watched {
  /** When it became local-only, and when it is checked next; by the steady clock (ms). */
  readonly since: number
  dueAt: number
  /** Reason found against sending it. */
  why: string | undefined
}

type SendIfDocument = (node: Node) => Promise<string | undefined>

export class LocalOnly {
  readonly #temporaryMs: number
  readonly #clock: Clock
  readonly #sendIfDocument: SendIfDocument
  readonly #files = new Map<Node, Watched>()
  #timer: Timer | undefined
  #isClosed = false

  /**
   * `sendIfDocument` is called with a file that was unchanged for `temporaryMs`: it sends the file, or returns the reason why the
   * file stays. It is called again after the same time.
   */
  constructor(temporaryMs: number, clock: Clock, sendIfDocument: SendIfDocument) {
    this.#temporaryMs = temporaryMs
    this.#clock = clock
    this.#sendIfDocument = sendIfDocument
  }

  /** Notes that a local-only file was changed just now. */
  changed(node: Node): void {
    if (isInTrash(node.path)) return
    const now = this.#clock.steady()
    const known = this.#files.get(node)
    this.#files.set(node, {
      since: known?.since ?? now,
      dueAt: now + this.#temporaryMs,
      why: undefined,
    })
    this.#arm()
  }

  /** Notes a local-only file of an earlier run. `isDocument`: by the present rules it is a document, and is checked at once. */
  found(node: Node, isDocument: boolean): void {
    if (isInTrash(node.path)) return
    const dueAt = this.#clock.steady() + (isDocument ? 0 : this.#temporaryMs)
    this.#files.set(node, { since: -Infinity, dueAt, why: undefined })
    this.#arm()
  }

  /** Checks the files at or under a path now, without waiting for further changes by their programs. */
  async decideNow(path: string): Promise<void> {
    const now = this.#clock.steady()
    for (const [node, watched] of this.#files) if (isAtOrUnder(node.path, path)) watched.dueAt = now
    await this.#check()
  }

  /** Returns all local-only files. */
  *all(): Iterable<Node> {
    for (const node of this.#files.keys()) if (isLinkedLocalOnly(node)) yield node
  }

  /** Returns files that have been local-only for longer than `temporaryMs`, each with the reason. */
  *lasting(): Iterable<[Node, string | undefined]> {
    const before = this.#clock.steady() - this.#temporaryMs
    for (const [node, { since, why }] of this.#files)
      if (isLinkedLocalOnly(node) && since <= before) yield [node, why]
  }

  close(): void {
    this.#isClosed = true
    this.#clock.clear(this.#timer)
  }

  #arm(): void {
    this.#clock.clear(this.#timer)
    if (this.#isClosed || this.#files.size === 0) return
    let dueAt = Infinity
    for (const watched of this.#files.values()) dueAt = Math.min(dueAt, watched.dueAt)
    this.#timer = this.#clock.setTimeout(() => void this.#check(), Math.max(0, dueAt - this.#clock.steady()))
  }

  async #check(): Promise<void> {
    const now = this.#clock.steady()
    for (const [node, watched] of this.#files) {
      if (!isLinkedLocalOnly(node)) this.#files.delete(node)
      else if (watched.dueAt <= now) {
        // Checked again later: the reason to stay may disappear.
        watched.dueAt = now + this.#temporaryMs
        watched.why = await this.#sendIfDocument(node)
        if (this.#isClosed) return
      }
    }
    this.#arm()
  }
}

/** True for a local-only file with a name that may still become a document: files in the trash never do. */
export function isLinkedLocalOnly(node: Node): boolean {
  return node.isLocalOnly && !node.isUnlinked && !isInTrash(node.path)
}

/** Returns the files that `status` names: those that have been on this machine only for a while. */
export function localFiles(localOnly: LocalOnly): LocalFile[] {
  return [...localOnly.lasting()].map(([node, why]) => ({
    path: node.path,
    bytes: node.size ?? 0,
    why: why === undefined || node.door.writeHandles > 0 ? whyHere(node) : why,
  }))
}

/** Returns the reason why a file is on this machine only, as far as its name and its use tell. */
export function whyHere(node: Node): string {
  if (isInTrash(node.path)) return 'in the trash of this machine'
  return node.door.writeHandles > 0 ? 'open in a program' : reasonByName(node)
}

/** True if no rule keeps the file local: a rename, its program or the next minute decides. */
export function isUndecided(node: Node): boolean {
  return ruleFor(node) === undefined
}

function ruleFor({ parent, name, local }: Node): string | undefined {
  return whyLocal(name, (other) => parent?.folder?.children.get(other)?.isLocalOnly === false, local)
}

function reasonByName(node: Node): string {
  const { name, local } = node
  const why = ruleFor(node)
  const isGivenTime = isUndecidedName(name) || local.isMadeTemporary
  return why ?? (isGivenTime ? 'sent when it has been left alone for a minute' : 'waits to be sent')
}
