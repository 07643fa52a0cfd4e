// Notifications that invalidate the kernel's caches, sent one after another. The write of one blocks while any request on
// that node or folder is unanswered, so no answer to the kernel may wait for it. Answers of the WebDAV door may (`heard`), since no
// request of the kernel waits for those.

import type { UnusedNode, Notifier } from '../../fs/operations.ts'
import { set64, setI32, setU32, viewOf } from './fields.ts'
import { notifyCode } from './protocol-opcodes.ts'
import { UnheardNames } from './unheard-names.ts'
import { notifyInvalEntryOut, notifyInvalInodeOut, notifyPruneOut, outHeader } from './protocol-structs.ts'

export class Notifications implements Notifier {
  readonly #send: (message: Uint8Array) => Promise<boolean>
  /** Names that changed, until the kernel has taken the notification: a rename of one may move a stale entry of the kernel. */
  readonly #unheard: UnheardNames
  /** Messages not sent yet, by kind and subject, so that each waits only once. Each resolves with true if the kernel took it. */
  readonly #waiting = new Map<string, Promise<boolean>>()
  /** The newest message: once it was sent, so were all before it. */
  #last: Promise<boolean> = Promise.resolve(true)
  /** The newest `dropUnused` call: they run one after another, since each waits for its own messages. */
  #dropping: Promise<void> = Promise.resolve()
  /** True until the kernel refuses PRUNE, as Linux before 6.18 does. */
  #understandsPrune = true

  constructor(send: (message: Uint8Array) => Promise<boolean>, unheard: UnheardNames = new UnheardNames()) {
    this.#send = send
    this.#unheard = unheard
  }

  attributesChanged(ino: number): void {
    // A content invalidation that still waits covers the attributes, too.
    if (!this.#waiting.has(`content ${ino}`)) void this.#enqueue(`attributes ${ino}`, invalInode(ino, -1))
  }

  contentChanged(ino: number): void {
    void this.#enqueue(`content ${ino}`, invalInode(ino, 0))
  }

  entryChanging(parent: number, name: string): () => void {
    // From before the change, so that no rename by the kernel in between passes unnoticed.
    const end = this.#unheard.begin(parent, name)
    return () => {
      this.entryChanged(parent, name)
      end()
    }
  }

  entryChanged(parent: number, name: string): void {
    const end = this.#unheard.begin(parent, name)
    void this.#enqueue(`entry ${parent} ${name}`, invalEntry(parent, name)).finally(end)
  }

  async heard(): Promise<void> {
    await this.#last
  }

  dropUnused(nodes: readonly UnusedNode[]): Promise<void> {
    this.#dropping = this.#dropping.then(() => this.#dropUnused(nodes))
    return this.#dropping
  }

  async #dropUnused(nodes: readonly UnusedNode[]): Promise<void> {
    const first = nodes[0]
    if (first === undefined) return
    if (this.#understandsPrune) {
      const message = prune(nodes.map(({ ino }) => ino))
      this.#understandsPrune = await this.#enqueue(`prune ${first.ino}`, message)
      if (this.#understandsPrune) return
    }
    // Only files: invalidating the current folder of a program would make the folder lose its path.
    const files = nodes.filter(({ kind }) => kind === 'file')
    for (const { parent, name } of files) this.entryChanged(parent, name)
    if (files.length > 0) await this.heard()
  }

  #enqueue(key: string, message: Buffer): Promise<boolean> {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return waiting
    const sent = this.#last.then(() => {
      this.#waiting.delete(key)
      return this.#send(message)
    })
    this.#waiting.set(key, sent)
    this.#last = sent
    return sent
  }
}

/** Drops a node's attributes. Offset 0: also all pages (of a folder: its listing); -1: no pages, and no page lock is taken. */
export function invalInode(ino: number, offset: number): Buffer {
  const message = header(notifyCode.invalInode, notifyInvalInodeOut.sizeOf)
  const view = viewOf(message)
  set64(view, outHeader.sizeOf + notifyInvalInodeOut.ino, ino)
  set64(view, outHeader.sizeOf + notifyInvalInodeOut.off, offset)
  return message
}

/** Drops a name, cached as present or as missing, and the parent's cached listing. */
export function invalEntry(parent: number, name: string): Buffer {
  const nameBytes = Buffer.from(name)
  const message = header(notifyCode.invalEntry, notifyInvalEntryOut.sizeOf + nameBytes.length + 1)
  const view = viewOf(message)
  set64(view, outHeader.sizeOf + notifyInvalEntryOut.parent, parent)
  setU32(view, outHeader.sizeOf + notifyInvalEntryOut.namelen, nameBytes.length)
  nameBytes.copy(message, outHeader.sizeOf + notifyInvalEntryOut.sizeOf)
  return message
}

/** Drops the nodes that no program uses, with their names; the kernel then sends FORGETs. */
export function prune(inos: readonly number[]): Buffer {
  const message = header(notifyCode.prune, notifyPruneOut.sizeOf + inos.length * 8)
  const view = viewOf(message)
  setU32(view, outHeader.sizeOf + notifyPruneOut.count, inos.length)
  for (const [at, ino] of inos.entries()) set64(view, outHeader.sizeOf + notifyPruneOut.sizeOf + at * 8, ino)
  return message
}

function header(code: number, bodyBytes: number): Buffer {
  const message = Buffer.alloc(outHeader.sizeOf + bodyBytes)
  const view = viewOf(message)
  setU32(view, outHeader.len, message.length)
  setI32(view, outHeader.error, code)
  return message
}
