// The filesystem as the doors see it: inode-shaped, like libfuse's low-level API. No kernel, no HTTP here.
//
// Glossary: a *node* is one file or folder we know of, named by its `ino`; a *name* is one segment; a *handle* is one
// open(), named by its `fh`; *lookup count* is how many references the door holds on a node until it says `forget`.

import type { MaybePromise } from '../maybe-promise.ts'

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

/** A node with how long the door may keep the answer. Milliseconds; 0 = ask again each time. */
export interface Entry {
  readonly attributes: Attributes
  readonly entryTtlMs: number
  readonly attributeTtlMs: number
}

/** The name does not exist; the door may keep that for `entryTtlMs`. */
export interface NegativeEntry {
  readonly attributes: undefined
  readonly entryTtlMs: number
}

/**
 * The caller of an operation. `signal` is aborted when nobody hears the answer any more: the caller is dying
 * (Ctrl-C), gave up a call that only looks, or the mount ends. Made lazily by the door.
 */
export interface Caller {
  readonly uid: number
  readonly gid: number
  readonly pid: number
  /** Tells its program from every other, for as long as that runs; undefined where nobody knows. */
  readonly program?: string | undefined
  /** It is being ended by a signal; undefined where nobody knows. Looked at when it is asked for. */
  readonly isDying?: boolean | undefined
  /** Tells if such a program still runs. Absent where nobody knows. */
  readonly isRunning?: ((program: string) => boolean) | undefined
  /**
   * False if its kernel may know another node by this name: it has not heard of a change yet, and has not asked for the name since.
   * Absent for a door that keeps no names.
   */
  knows?(parent: number, name: string, ino: number): boolean
  readonly signal: AbortSignal
  /**
   * Memory that `read` may return its bytes in, if it returns them at once (no promise): the door has sent them before its next
   * call. Absent: `read` allocates.
   */
  readonly readBuffer?: Uint8Array | undefined
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
  /** The handle writes no bytes: the door need not ask when it is closed. */
  readonly hasNothingToFlush: boolean
}

export interface OpenedFolder {
  readonly fh: number
  /** The door may go on with the listing it has: nothing changed since it was read. Otherwise it keeps the one it reads now. */
  readonly keepListing: boolean
}

export interface CreateOptions {
  readonly mode: number
  readonly flags: OpenFlags
  /** O_EXCL: EEXIST when the name is taken. */
  readonly exclusive: boolean
  /** The door was not told how it is opened: `flags` and `exclusive` are what suits every caller. */
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
  /** Bytes per block of the four counts below it. */
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
  /** Undefined where it has to be asked for: the door looks the name up when somebody wants to know. */
  entry(): Entry | undefined
}

/** Takes one child; `cookie` continues the listing after it. Answers false when there is no more room (the child was not taken). */
export type Filler = (child: DirectoryEntry, cookie: number) => boolean

/**
 * The operation table. Every method may answer at once or by promise, and throws (or rejects with) errors that
 * `errnoOf` can name. `lookup`, `create`, `mkdir` and `remember` each add one to the node's lookup count.
 */
export interface Operations {
  /** `.` and `..` look up a node by its number, also one that was forgotten: ESTALE where it is not where it was. */
  lookup(parent: number, name: string, caller: Caller): MaybePromise<Entry | NegativeEntry>
  /** Takes `count` references away. Never fails, unknown nodes are ignored. */
  forget(ino: number, count: number): void
  /** Adds one reference: the door handed this readdir entry to the kernel with attributes. */
  remember(ino: number): void
  getattr(ino: number, fh: number | undefined, caller: Caller): MaybePromise<Entry>
  setattr(ino: number, change: AttributeChange, fh: number | undefined, caller: Caller): MaybePromise<Entry>

  opendir(ino: number, caller: Caller): MaybePromise<OpenedFolder>
  /** Fills children after `cookie` (0 = from the start, on a fresh snapshot); `.` and `..` are the door's. */
  readdir(fh: number, cookie: number, filler: Filler, caller: Caller): MaybePromise<void>
  releasedir(fh: number): void
  /** Every name made, renamed or removed so far survives a power cut. Throws what the disk answers. */
  fsyncdir(ino: number, caller: Caller): MaybePromise<void>

  open(ino: number, flags: OpenFlags, caller: Caller): MaybePromise<Opened>
  create(
    parent: number,
    name: string,
    options: CreateOptions,
    caller: Caller,
  ): MaybePromise<{ entry: Entry; opened: Opened }>
  /** The bytes of the range as one or more chunks, in order, shorter only at the end of file. Valid until the next tick. */
  read(fh: number, offset: number, length: number, caller: Caller): MaybePromise<readonly Uint8Array[]>
  /**
   * Bytes written. `end`: at our own end of file, which the door may not know; each write says so for itself, since a program
   * may change O_APPEND of what is open, and what it maps is written in its place. `data` must stay untouched until the answer.
   */
  write(fh: number, offset: number | 'end', data: Uint8Array, caller: Caller): MaybePromise<number>
  /** Each close(2) of a descriptor: its error is close's error. */
  flush(fh: number, caller: Caller): MaybePromise<void>
  fsync(fh: number, caller: Caller): MaybePromise<void>
  /** The last close: its error goes nowhere. */
  release(fh: number): MaybePromise<void>
  /** Reserves space: extends the file unless `keepSize`. */
  fallocate(fh: number, offset: number, length: number, keepSize: boolean, caller: Caller): MaybePromise<void>
  /** Bytes copied; may copy whole documents inside the service. EOPNOTSUPP lets the door copy by reading and writing. */
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

/** How the filesystem tells a door what changed behind its back. Never throws. */
export interface Notifier {
  /** Attributes changed, content did not. */
  attributesChanged(ino: number): void
  /** Content changed (attributes too); of a folder: its listing. */
  contentChanged(ino: number): void
  /** The name is about to stand for something else, or to go. Returns the `entryChanged` to be called once it does. */
  entryChanging(parent: number, name: string): () => void
  /** The name now stands for something else, appeared or is gone. */
  entryChanged(parent: number, name: string): void
  /** These are no longer of use: the door may `forget` them, and asks again when somebody wants them. Resolves when it was told. */
  letGo(nodes: readonly LetGo[]): Promise<void>
  /**
   * Resolves when the door shows nothing any more of what was before the changes told so far. It may have to wait for calls
   * that came through it: whoever answers such a call never waits for this.
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
  /** A listing of a folder that is watched told this; the tree shows it already. */
  found(folder: number, findings: readonly Finding[]): void
}

/** A door in which nobody watches. */
export const idleWatcher: Watcher = {
  watches: () => false,
  found() {},
}

/** A node the door holds, and under which name. */
export interface LetGo {
  readonly ino: number
  readonly kind: NodeKind
  readonly parent: number
  readonly name: string
}

/** A door that cannot push. */
export const silentNotifier: Notifier = {
  attributesChanged() {},
  contentChanged() {},
  entryChanging: () => () => {},
  entryChanged() {},
  async letGo() {},
  async heard() {},
}
