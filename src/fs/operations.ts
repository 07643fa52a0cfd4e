// The filesystem as the doors see it: inode-shaped, like libfuse's low-level API. No kernel, no HTTP here.
//
// Glossary: a *node* is one file or folder we know of, named by its `ino`; a *name* is one segment; a *handle* is one
// open(), named by its `fh`; *lookup count* is how many references the door holds on a node until it says `forget`.

import type { Borrowed } from '../content/block-uses.ts'
import type { MaybePromise } from '../maybe-promise.ts'

export { Borrowed } from '../content/block-uses.ts'
export type { MaybePromise } from '../maybe-promise.ts'

/** The root's node id: the kernel's own constant (FUSE_ROOT_ID). */
export const rootIno = 1

/** Exact to the nanosecond: floats of milliseconds lose about 50 ns. */
export interface Time {
  readonly sec: number
  readonly nsec: number
}

export type NodeKind = 'file' | 'folder'

export interface Attributes {
  readonly ino: number
  readonly kind: NodeKind
  /** Bytes. */
  readonly size: number
  /** Permission bits only, e.g. 0o644. */
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly atime: Time
  readonly mtime: Time
  readonly ctime: Time
}

/** A node's attributes, and for how long (ms) the door may cache its name and its attributes; 0 = ask again each time. */
export interface Entry {
  readonly attributes: Attributes
  readonly entryTtlMs: number
  readonly attributeTtlMs: number
}

/** The name does not exist; the door may cache that for `entryTtlMs`. */
export interface NegativeEntry {
  readonly attributes: undefined
  readonly entryTtlMs: number
}

/**
 * The caller of an operation. `signal` is aborted when nobody waits for the answer any more: the program is being killed
 * (Ctrl-C), it gave up a call that changes nothing, or the mount ends. The door makes it lazily.
 */
export interface Caller {
  readonly uid: number
  readonly gid: number
  readonly pid: number
  /** Identifies the program among all that run; undefined if unknown. */
  readonly program?: string | undefined
  /** True while a signal is ending the program; undefined if unknown. Determined at each access. */
  readonly isDying?: boolean | undefined
  /** Tells if the program with this identifier still runs. Absent if the door cannot know. */
  readonly isRunning?: ((program: string) => boolean) | undefined
  /**
   * False if the caller's kernel may have another node by this name: it was not notified of a change yet, and has not looked
   * the name up since. Absent for a door that caches no names.
   */
  knows?(parent: number, name: string, ino: number): boolean
  readonly signal: AbortSignal
  /**
   * Memory that `read` may return its bytes in, if it returns them at once (no promise): the door has sent them before its next
   * call. Absent: `read` allocates.
   */
  readonly readBuffer?: Uint8Array | undefined
  /** Collects the memory that bytes of `read` are views of. The door ends it when it has sent them. Absent: it may keep them. */
  readonly borrowed?: Borrowed | undefined
}

export interface OpenFlags {
  readonly read: boolean
  readonly write: boolean
  readonly truncate: boolean
}

export interface Opened {
  /** 1 … 2^31-1, never reused while open (fuse-native keeps an int32). */
  readonly fh: number
  /** The door may keep its pages from an earlier open: the content is the same. */
  readonly keepCache: boolean
  /** The size is unknown or changes under the reader: bypass the page cache. */
  readonly directIo: boolean
  /** The handle writes no bytes: the door need not call `flush` when it is closed. */
  readonly hasNothingToFlush: boolean
}

export interface OpenedFolder {
  readonly fh: number
  /** The door may reuse the listing it has cached: nothing changed since. If false, it caches the one it reads now. */
  readonly keepListing: boolean
}

export interface CreateOptions {
  readonly mode: number
  readonly flags: OpenFlags
  /** O_EXCL: EEXIST when the name is taken. */
  readonly exclusive: boolean
  /** The door does not know how the file is opened: `flags` and `exclusive` are values that suit every caller. */
  readonly isGuess?: boolean
}

/** Attributes for setattr to change; absent = leave. */
export interface AttributeChange {
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly size?: number
  readonly atime?: Time | 'now'
  readonly mtime?: Time | 'now'
}

export interface RenameFlags {
  /** EEXIST when the target exists (RENAME_NOREPLACE). */
  readonly noReplace: boolean
  /** Swap the two names (RENAME_EXCHANGE). */
  readonly exchange: boolean
}

export interface FilesystemStatistics {
  /** Bytes per block: the unit of `blocks` and `blocksFree`. */
  readonly blockSizeBytes: number
  readonly blocks: number
  readonly blocksFree: number
  readonly files: number
  readonly filesFree: number
  /** Longest name in bytes. */
  readonly nameMax: number
}

/** One child in a folder's listing. `entry()` computes attributes only when the door wants them; it never waits. */
export interface DirectoryEntry {
  readonly name: string
  readonly ino: number
  readonly kind: NodeKind
  /** Undefined if the service would have to be asked: the door looks the name up when a program needs the attributes. */
  entry(): Entry | undefined
}

/** Takes one child; `cookie` continues the listing after it. Returns false if the buffer is full (the child was not taken). */
export type Filler = (child: DirectoryEntry, cookie: number) => boolean

/**
 * The operation table. Every method may return its result at once or by promise, and throws (or rejects with) errors that
 * `errnoOf` can name. `lookup`, `create`, `mkdir` and `remember` each add one to the node's lookup count.
 */
export interface Operations {
  /** `.` and `..` look up a node by its number, also a forgotten one: ESTALE if it is not at its last known path. */
  lookup(parent: number, name: string, caller: Caller): MaybePromise<Entry | NegativeEntry>
  /** Takes `count` references away. Never fails, unknown nodes are ignored. */
  forget(ino: number, count: number): void
  /** Adds one reference: the door passed this readdir entry to the kernel with attributes. */
  remember(ino: number): void
  getattr(ino: number, fh: number | undefined, caller: Caller): MaybePromise<Entry>
  setattr(ino: number, change: AttributeChange, fh: number | undefined, caller: Caller): MaybePromise<Entry>

  opendir(ino: number, caller: Caller): MaybePromise<OpenedFolder>
  /** Fills children after `cookie` (0 = from the start, on a fresh snapshot); `.` and `..` are the door's. */
  readdir(fh: number, cookie: number, filler: Filler, caller: Caller): MaybePromise<void>
  releasedir(fh: number): void
  /** Ensures that every name made, renamed or removed so far survives a power cut. Throws the disk's error. */
  fsyncdir(ino: number, caller: Caller): MaybePromise<void>

  open(ino: number, flags: OpenFlags, caller: Caller): MaybePromise<Opened>
  create(
    parent: number,
    name: string,
    options: CreateOptions,
    caller: Caller,
  ): MaybePromise<{ entry: Entry; opened: Opened }>
  /** Returns the bytes as one or more chunks, in order, shorter only at the end of file. Valid until the next tick. */
  read(fh: number, offset: number, length: number, caller: Caller): MaybePromise<readonly Uint8Array[]>
  /**
   * Returns the number of bytes written. `end`: at our own end of file, which the door may not know. It is given with each
   * write, since a program may change O_APPEND of an open file, and mapped pages are written at their offset. `data` must not
   * change before the call has returned.
   */
  write(fh: number, offset: number | 'end', data: Uint8Array, caller: Caller): MaybePromise<number>
  /** Called at each close(2) of a descriptor, which fails with its error. */
  flush(fh: number, caller: Caller): MaybePromise<void>
  fsync(fh: number, caller: Caller): MaybePromise<void>
  /** Called after the last close. No program gets its error. */
  release(fh: number): MaybePromise<void>
  /** Reserves space: extends the file unless `keepSize`. */
  fallocate(fh: number, offset: number, length: number, keepSize: boolean, caller: Caller): MaybePromise<void>
  /** Returns the bytes copied; may copy whole documents in the service. EOPNOTSUPP lets the door copy by reading and writing. */
  copyFileRange(
    fhIn: number,
    offsetIn: number,
    fhOut: number,
    offsetOut: number,
    length: number,
    caller: Caller,
  ): MaybePromise<number>

  mkdir(parent: number, name: string, mode: number, caller: Caller): MaybePromise<Entry>
  unlink(parent: number, name: string, caller: Caller): MaybePromise<void>
  rmdir(parent: number, name: string, caller: Caller): MaybePromise<void>
  rename(
    parent: number,
    name: string,
    newParent: number,
    newName: string,
    flags: RenameFlags,
    caller: Caller,
  ): MaybePromise<void>
  statfs(): FilesystemStatistics
}

/** Notifications to a door about changes that did not come through it. Never throws. */
export interface Notifier {
  /** Attributes changed, content did not. */
  attributesChanged(ino: number): void
  /** Content changed (attributes too); of a folder: its listing. */
  contentChanged(ino: number): void
  /** The name is about to refer to another node, or to disappear. Returns the `entryChanged` to be called once it does. */
  entryChanging(parent: number, name: string): () => void
  /** The name now refers to another node, appeared or disappeared. */
  entryChanged(parent: number, name: string): void
  /** Asks the door to `forget` those of these nodes that no program uses. Resolves when the door is notified. */
  dropUnused(nodes: readonly UnusedNode[]): Promise<void>
  /**
   * Resolves when the door no longer shows a state from before the changes notified so far. It may have to wait for calls that
   * came through the door, so the answer to such a call must never wait for this.
   */
  heard(): Promise<void>
}

/** Another client’s change of a name. `ino`: the node that had the name, if any. */
export interface Finding {
  readonly what: 'made' | 'changed' | 'gone'
  readonly name: string
  readonly kind: NodeKind
  readonly ino?: number | undefined
}

/** A door whose programs want to hear of other clients' changes in some folders. Never throws. */
export interface Watcher {
  watches(folder: number): boolean
  /** Called after a new listing of a watched folder; the tree shows these changes already. */
  found(folder: number, findings: readonly Finding[]): void
}

/** A watcher without watched folders. */
export const idleWatcher: Watcher = {
  watches: () => false,
  found() {},
}

/** A node that the door still holds, under this name. */
export interface UnusedNode {
  readonly ino: number
  readonly kind: NodeKind
  readonly parent: number
  readonly name: string
}

/** Notifier for a door that cannot be notified. */
export const silentNotifier: Notifier = {
  attributesChanged() {},
  contentChanged() {},
  entryChanging: () => () => {},
  entryChanged() {},
  async dropUnused() {},
  async heard() {},
}
