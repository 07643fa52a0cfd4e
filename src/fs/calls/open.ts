// open, create, release; read and write through a handle.

import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import { waitForJob } from '../../content/commit/job.ts'
import {
  isGone,
  makeWritable,
  markChanged,
  ownCommitMs,
  readContent,
  rebindReaders,
  stillMoving,
  takeContent,
  truncateContent,
} from '../unsent/content.ts'
import { FileHandle } from '../tree/handles.ts'
import { withKnownSize } from './known-size.ts'
import { entryOf, withListing } from './lookup.ts'
import { checkName } from '../tree/names.ts'
import type { Node } from '../tree/node.ts'
import { timeOfMs } from '../tree/attributes.ts'
import type { Caller, CreateOptions, Entry, MaybePromise, Opened, OpenFlags } from '../operations.ts'
import { saveAfterRelease } from '../unsent/submit.ts'
import { finalName, isMadeLocal, type Making } from '../tree/scratch.ts'
import type { Superblock } from '../superblock.ts'

/** Opening for writing changes nothing yet; O_TRUNC downloads nothing. */
export function open(sb: Superblock, ino: number, flags: OpenFlags, caller: Caller): MaybePromise<Opened> {
  const node = sb.tree.nodes.get(ino)
  if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
  if (node.size === undefined && !flags.truncate) return openUnsized(sb, node, flags, caller)
  if (!flags.truncate) return opened(sb, node, flags)
  return truncateContent(sb, node, 0, caller.signal).then(() => opened(sb, node, flags))
}

async function openUnsized(sb: Superblock, node: Node, flags: OpenFlags, caller: Caller): Promise<Opened> {
  await withKnownSize(sb, node, caller, () => undefined)
  if (node.size === undefined) await learnSize(sb, node, caller)
  return open(sb, node.ino, flags, caller)
}

/** The record does not tell the size (interface: optional): ask the content itself. */
async function learnSize(sb: Superblock, node: Node, caller: Caller): Promise<void> {
  const { version } = node
  if (version === undefined) return
  if (node.remote !== undefined) sb.urls.remember(version.path, node.remote, node.stored.askedAt)
  node.stored.learn(await sb.reader.learnSize(version, caller.signal))
  sb.tree.notifier.attributesChanged(node.ino)
}

function opened(sb: Superblock, node: Node, flags: OpenFlags): Opened {
  if (flags.read && node.content === undefined) sb.prefetch.opened(node)
  const keepCache = node.door.showContent()
  const directIo = node.content === undefined && node.remote !== undefined && node.remote.size === undefined
  return { fh: sb.handles.addFile(new FileHandle(node, flags)), keepCache, directIo }
}

export function create(
  sb: Superblock,
  parent: number,
  name: string,
  options: CreateOptions,
  caller: Caller,
): MaybePromise<{ entry: Entry; opened: Opened }> {
  checkName(name)
  const folder = sb.tree.nodes.getFolder(parent)
  return withListing(sb, folder, caller, (listing) => {
    const existing = sb.tree.child(folder, name, listing)
    if (existing !== undefined) {
      if (options.exclusive) throw new ErrnoError('EEXIST', `${existing.path} exists`)
      return Promise.resolve(open(sb, existing.ino, options.flags, caller)).then((result) => {
        existing.door.remember()
        return { entry: entryOf(sb, existing), opened: result }
      })
    }
    const isBeside = (other: string): boolean => sb.tree.child(folder, other, listing) !== undefined
    const node = make(sb, folder, name, { ...options, isBeside })
    node.door.remember()
    return { entry: entryOf(sb, node), opened: opened(sb, node, options.flags) }
  })
}

/** A new, empty, local document. Throws EOPNOTSUPP for a type the service does not take: now, not after the copy. */
function make(
  sb: Superblock,
  folder: Node,
  name: string,
  { mode, flags, exclusive, isBeside }: CreateOptions & Pick<Making, 'isBeside'>,
): Node {
  const base = folder.folder?.tombstones.get(name)?.fingerprint
  const readWrite = flags.read && flags.write
  // What the service had under this name was a document, whatever the name.
  const isScratch = base === undefined && isMadeLocal(name, { mode, exclusive, readWrite, isBeside })
  const documentName = isScratch ? finalName(name) : name
  if (documentName !== undefined) sb.refusedNames.check(folder.path, documentName)
  const content = sb.spool.create(name)
  const node = sb.tree.nodes.add('file', folder, name)
  if (isScratch) node.local.stay()
  node.unsent.mayReplace(base)
  node.times.made(mode, timeOfMs(sb.clock.wall()))
  takeContent(sb, node, content)
  sb.tree.attach(node, folder, name)
  if (isScratch) sb.localOnly.changed(node)
  return node
}

export function read(
  sb: Superblock,
  fh: number,
  offset: number,
  length: number,
  caller: Caller,
): MaybePromise<readonly Uint8Array[]> {
  const handle = sb.handles.file(fh)
  if (!handle.flags.read) throw new ErrnoError('EBADF', `${handle.node.path} is not open for reading`)
  if (handle.node.local.copyUp !== undefined) {
    return abortable(handle.node.local.copyUp, caller.signal).then(() =>
      readContent(sb, handle, offset, length, caller.signal),
    )
  }
  const chunks = readContent(sb, handle, offset, length, caller.signal)
  if (!(chunks instanceof Promise)) return chunks
  return chunks.catch((error: unknown) => readAgain(sb, handle, error, { offset, length, caller }))
}

/** A version that went away because of our own commit or rename is no change under the reader: it reads on at its new place. */
async function readAgain(
  sb: Superblock,
  handle: FileHandle,
  error: unknown,
  { offset, length, caller }: { offset: number; length: number; caller: Caller },
): Promise<readonly Uint8Array[]> {
  const { node } = handle
  if (!isGone(error)) throw error
  if (node.job !== undefined) await waitForJob(node.job, { timeoutMs: ownCommitMs, signal: caller.signal })
  else if (handle.reading !== undefined && node.content === undefined) throw error
  handle.rebind()
  try {
    return await readContent(sb, handle, offset, length, caller.signal)
  } catch (second) {
    throw stillMoving(node, second)
  }
}

export function write(
  sb: Superblock,
  fh: number,
  offset: number,
  data: Uint8Array,
  caller: Caller,
): MaybePromise<number> {
  const handle = sb.handles.file(fh)
  const { node } = handle
  if (!handle.flags.write) throw new ErrnoError('EBADF', `${node.path} is not open for writing`)
  const wait = makeWritable(sb, node, caller.signal)
  if (wait === undefined) return writeHere(sb, handle, offset, data)
  return abortable(wait, caller.signal).then(() => {
    rebindReaders(sb, node)
    return write(sb, fh, offset, data, caller)
  })
}

function writeHere(
  sb: Superblock,
  handle: FileHandle,
  offset: number,
  data: Uint8Array,
): MaybePromise<number> {
  const { node } = handle
  const { content } = node
  if (content === undefined) throw new ErrnoError('EIO', `${node.path}: its content is not here`)
  markChanged(sb, node)
  node.local.wrote()
  // Two appenders each see their own idea of the end: ours is the true one.
  return content.write(handle.flags.append ? content.size : offset, data)
}

export async function release(sb: Superblock, fh: number): Promise<void> {
  const handle = sb.handles.removeFile(fh)
  if (handle !== undefined) await saveAfterRelease(sb, handle.node)
}
