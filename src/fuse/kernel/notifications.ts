// Notifications to the kernel: something it cached has changed. One queue, one message under way, never waited for by
// what answers the kernel: such a write blocks while any request on that node or folder is unanswered, and from the
// main thread it would block the very answer the kernel waits for. Another door's answer may wait (`heard`): the
// kernel's requests never wait for one of those.

import type { LetGo, Notifier } from '../../fs/operations.ts'
import { set64, setI32, setU32, viewOf } from './fields.ts'
import { notifyCode } from './protocol-opcodes.ts'
import { notifyInvalEntryOut, notifyInvalInodeOut, notifyPruneOut, outHeader } from './protocol-structs.ts'

export class Notifications implements Notifier {
  readonly #send: (message: Uint8Array) => Promise<boolean>
  /** By what they say, until they are sent: saying it twice before it was heard once is no use. True: it was understood. */
  readonly #waiting = new Map<string, Promise<boolean>>()
  /** The newest message; heard when all before it are. */
  #last: Promise<boolean> = Promise.resolve(true)
  /** Asked to let go: one after another, since each waits for messages of its own. */
  #lettingGo: Promise<void> = Promise.resolve()
  /** Linux 6.18 and later. */
  #understandsPrune = true

  constructor(send: (message: Uint8Array) => Promise<boolean>) {
    this.#send = send
  }

  attributesChanged(ino: number): void {
    // A full invalidation that still waits says this too.
    if (!this.#waiting.has(`content ${ino}`)) void this.#enqueue(`attributes ${ino}`, invalInode(ino, -1))
  }

  contentChanged(ino: number): void {
    void this.#enqueue(`content ${ino}`, invalInode(ino, 0))
  }

  entryChanged(parent: number, name: string): void {
    void this.#enqueue(`entry ${parent} ${name}`, invalEntry(parent, name))
  }

  async heard(): Promise<void> {
    await this.#last
  }

  letGo(nodes: readonly LetGo[]): Promise<void> {
    this.#lettingGo = this.#lettingGo.then(() => this.#letGo(nodes))
    return this.#lettingGo
  }

  async #letGo(nodes: readonly LetGo[]): Promise<void> {
    const first = nodes[0]
    if (first === undefined) return
    if (this.#understandsPrune) {
      const message = prune(nodes.map(({ ino }) => ino))
      this.#understandsPrune = await this.#enqueue(`prune ${first.ino}`, message)
      if (this.#understandsPrune) return
    }
    // A folder that somebody is in would lose its path by this.
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

/** Offset -1: attributes alone, and no page lock is taken. Offset 0: attributes and all pages (of a folder: its listing). */
export function invalInode(ino: number, offset: number): Buffer {
  const message = header(notifyCode.invalInode, notifyInvalInodeOut.sizeOf)
  const view = viewOf(message)
  set64(view, outHeader.sizeOf + notifyInvalInodeOut.ino, ino)
  set64(view, outHeader.sizeOf + notifyInvalInodeOut.off, offset)
  return message
}

/** Drops the name, known or known to be missing, and the parent's cached listing. */
export function invalEntry(parent: number, name: string): Buffer {
  const nameBytes = Buffer.from(name)
  const message = header(notifyCode.invalEntry, notifyInvalEntryOut.sizeOf + nameBytes.length + 1)
  const view = viewOf(message)
  set64(view, outHeader.sizeOf + notifyInvalEntryOut.parent, parent)
  setU32(view, outHeader.sizeOf + notifyInvalEntryOut.namelen, nameBytes.length)
  nameBytes.copy(message, outHeader.sizeOf + notifyInvalEntryOut.sizeOf)
  return message
}

/** Drops those of the nodes that nobody uses, with their names: FORGETs follow. */
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
