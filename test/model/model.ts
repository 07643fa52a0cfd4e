// The content that a drive and its project must hold after a series of operations: a map, changed as POSIX says.

import { setTimeout as sleep } from 'node:timers/promises'

/** One thing a program does. Paths are absolute in the project. */
export type Operation =
  | { readonly kind: 'write' | 'write slowly' | 'hand on'; readonly path: string; readonly content: Buffer }
  | { readonly kind: 'append'; readonly path: string; readonly content: Buffer }
  | { readonly kind: 'truncate' | 'cut'; readonly path: string; readonly size: number }
  | {
      readonly kind: 'cut while closing'
      readonly path: string
      readonly content: Buffer
      readonly size: number
    }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink' | 'mkdir' | 'rmdir'; readonly path: string }

/** Contents by path; a folder's is undefined. */
export type Tree = ReadonlyMap<string, Buffer | undefined>

/** Names the tests use that never leave the machine. */
export function isLocalOnly(path: string): boolean {
  return /(~|\/\.goutputstream-[^/]*|\/[^/]*\.tmp)$/.test(path)
}

export class Model {
  readonly #tree: Map<string, Buffer | undefined>

  constructor(tree: Tree = new Map()) {
    this.#tree = new Map(tree)
  }

  /** Everything, folders included. */
  get tree(): Tree {
    return this.#tree
  }

  copy(): Model {
    return new Model(this.#tree)
  }

  isFolder(path: string): boolean {
    return path === '' || (this.#tree.has(path) && this.#tree.get(path) === undefined)
  }

  /** Everything at a path and below it. */
  under(path: string): string[] {
    return [...this.#tree.keys()].filter((other) => other === path || other.startsWith(`${path}/`))
  }

  /** Documents that the service must hold once everything is sent: no temporaries, and a backup only where no successor came. */
  documents(): Map<string, Buffer> {
    const documents = new Map<string, Buffer>()
    for (const [path, content] of this.#tree) {
      const isDocument = path.endsWith('~') ? !this.#tree.has(path.slice(0, -1)) : !isLocalOnly(path)
      if (content !== undefined && isDocument) documents.set(path, content)
    }
    return documents
  }

  apply(operation: Operation): void {
    const { path } = operation
    const before = this.#tree.get(path) ?? Buffer.alloc(0)
    switch (operation.kind) {
      case 'write':
      case 'write slowly':
      case 'hand on':
        this.#tree.set(path, operation.content)
        break
      case 'append':
        this.#tree.set(path, Buffer.concat([before, operation.content]))
        break
      case 'truncate':
      case 'cut':
        this.#tree.set(path, resized(before, operation.size))
        break
      case 'cut while closing':
        this.#tree.set(path, resized(operation.content, operation.size))
        break
      case 'mkdir':
        this.#tree.set(path, undefined)
        break
      case 'unlink':
      case 'rmdir':
        this.#tree.delete(path)
        break
      case 'rename':
        this.#move(path, operation.to)
    }
  }

  #move(from: string, to: string): void {
    for (const path of this.under(to)) this.#tree.delete(path)
    for (const path of this.under(from)) {
      this.#tree.set(to + path.slice(from.length), this.#tree.get(path))
      this.#tree.delete(path)
    }
  }
}

function resized(content: Buffer, size: number): Buffer {
  return Buffer.concat([content.subarray(0, size), Buffer.alloc(Math.max(0, size - content.length))])
}

interface WrittenFile {
  write(data: Buffer, position: number): Promise<void>
  truncate(size: number): Promise<void>
  close(): Promise<void>
}

/** Does it to a real folder. */
export interface Performer {
  writeFile(path: string, content: Buffer): Promise<void>
  open(path: string, flags: 'w' | 'r+'): Promise<WrittenFile>
  appendFile(path: string, content: Buffer): Promise<void>
  truncate(path: string, size: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
}

/** `pause` lets time go by in the middle of what is written slowly (ms); `onLateClose` is told when a descriptor that stayed open is closed. */
export async function perform(
  performer: Performer,
  operation: Operation,
  pause: (ms: number) => Promise<unknown> = sleep,
  onLateClose: () => void = () => {},
): Promise<void> {
  const { kind, path } = operation
  if (kind === 'write') await performer.writeFile(path, operation.content)
  else if (kind === 'write slowly') await writeSlowly(performer, path, operation.content, pause)
  else if (kind === 'hand on') await handOn(performer, path, operation.content, pause)
  else if (kind === 'append') await performer.appendFile(path, operation.content)
  else if (kind === 'truncate') await performer.truncate(path, operation.size)
  else if (kind === 'cut') await cut(performer, path, operation.size, pause, onLateClose)
  else if (kind === 'cut while closing')
    await cutWhileClosing(performer, path, operation.content, operation.size, pause)
  else if (kind === 'rename') await performer.rename(path, operation.to)
  else await performer[kind](path)
}

/** In pieces, with time in between: what happens to a document while it is being written happens to this one. */
async function writeSlowly(
  performer: Performer,
  path: string,
  content: Buffer,
  pause: (ms: number) => Promise<unknown>,
): Promise<void> {
  const file = await performer.open(path, 'w')
  const half = content.length >> 1
  try {
    await file.write(content.subarray(0, half), 0)
    await pause(20 + (content.length % 400))
    await file.write(content.subarray(half), half)
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
  await file.close()
}

/** Two with a descriptor each: the second writes on when the first is closing, and closes when the first has closed. */
async function handOn(
  performer: Performer,
  path: string,
  content: Buffer,
  pause: (ms: number) => Promise<unknown>,
): Promise<void> {
  const first = await performer.open(path, 'w')
  const half = content.length >> 1
  let opened: WrittenFile | undefined
  let second: WrittenFile
  try {
    second = opened = await performer.open(path, 'r+')
    await first.write(content.subarray(0, half), 0)
  } catch (error) {
    // Neither is left open where the disk refuses it, or what the drive keeps for it would stay.
    for (const file of [first, opened]) await file?.close().catch(() => {})
    throw error
  }
  const closing = first.close()
  closing.catch(() => {})
  try {
    await pause(content.length % 40)
    await second.write(content.subarray(half), half)
    await closing
  } finally {
    await second.close()
  }
}

/** ftruncate(2) and close, while a second descriptor stays open for a moment: that close alone has to save it. */
async function cut(
  performer: Performer,
  path: string,
  size: number,
  pause: (ms: number) => Promise<unknown>,
  onLateClose: () => void,
): Promise<void> {
  const file = await performer.open(path, 'r+')
  let other: WrittenFile | undefined
  try {
    other = await performer.open(path, 'r+')
    await file.truncate(size)
  } finally {
    const second = other
    if (second !== undefined) void closeLate(second, pause(size % 500), onLateClose)
    await file.close()
  }
}

async function closeLate(
  file: WrittenFile,
  whenever: Promise<unknown>,
  onLateClose: () => void,
): Promise<void> {
  await whenever
  onLateClose()
  await file.close().catch(() => {})
}

/** Cut by its name while the close of what was written is under way: neither waits for the other. */
async function cutWhileClosing(
  performer: Performer,
  path: string,
  content: Buffer,
  size: number,
  pause: (ms: number) => Promise<unknown>,
): Promise<void> {
  const file = await performer.open(path, 'w')
  try {
    await file.write(content, 0)
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
  const closing = file.close()
  closing.catch(() => {})
  await pause(content.length % 40)
  const cutting = performer.truncate(path, size)
  cutting.catch(() => {})
  await closing
  await cutting
}
