// Operations that answer the calls of a replay (replay.ts) so that the kernel takes each change for the child's: a deleted name is
// still found and can be unlinked, a new one can be created. They change nothing. Calls of other processes pass unchanged.

import { ErrnoError } from '../../errno-error.ts'
import type { FileSystem } from '../../fs/contract.ts'
import type { Attributes, Caller, Entry, Opened, Operations } from '../../fs/operations.ts'
import type { Replay } from './replay.ts'

/** The handle of every document that a replay opens: no other has this number. */
const replayHandle = 0
const opened: Opened = { fh: replayHandle, keepCache: true, directIo: false, hasNothingToFlush: true }
/** Inode numbers above this stand for nodes that the drive does not have: tokens of replays, and deleted names without a node. */
const firstGhost = 2 ** 52

/** `current` returns the running replay, if there is one. */
export function withReplay(inner: FileSystem, current: () => Replay | undefined): Operations {
  let lastGhost = firstGhost

  const replayOf = ({ pid }: Caller): Replay | undefined => {
    const replay = current()
    return replay?.pid === pid ? replay : undefined
  }

  /** The kernel may not cache these answers: lookups of other programs must reach the drive. */
  const entryOf = (attributes: Attributes): Entry => ({ attributes, entryTtlMs: 0, attributeTtlMs: 0 })
  const nothing = { attributes: undefined, entryTtlMs: 0 } as const

  /** Returns the entry of a node of the drive, and counts the reference that the kernel gets with it (and ends by `forget`). */
  function reach(replay: Replay, attributes: Attributes): Entry {
    inner.remember(attributes.ino)
    replay.reached.add(attributes.ino)
    return entryOf(attributes)
  }

  /** Returns attributes for a node that the drive does not have, like those of the folder. `peek` asks no service. */
  function ghost(ino: number, { folder }: Replay, kind: Attributes['kind'] = 'file'): Attributes {
    const like = inner.peek(folder)
    if (like === undefined) throw new ErrnoError('ENOENT', 'the folder is gone')
    return { ...like, ino, kind, size: 0, nlink: 1 }
  }

  function lookup(replay: Replay, name: string): Entry | typeof nothing {
    if (name === replay.token) return entryOf(ghost(++lastGhost, replay))
    const finding = replay.findings.get(name)
    switch (finding?.what) {
      case 'changed': {
        const attributes = inner.peekName(replay.folder, name)
        return attributes === undefined ? nothing : reach(replay, attributes)
      }
      case 'gone': {
        // Programs that watch the document itself, or have it open, know it by this inode number.
        const known = finding.ino === undefined ? undefined : inner.peek(finding.ino)
        if (known === undefined) return entryOf(ghost(++lastGhost, replay, finding.kind))
        return reach(replay, { ...known, nlink: 1 })
      }
      case 'made':
      case undefined:
        return nothing
    }
  }

  /** Answers `create` and `mkdir` with the node that another client's change brought. Throws ENOENT for any other name. */
  function make(replay: Replay, name: string): Entry {
    const finding = replay.findings.get(name)
    const attributes = inner.peekName(replay.folder, name)
    if (finding?.what !== 'made' || attributes?.kind !== finding.kind)
      throw new ErrnoError('ENOENT', `${name} is not to be made`)
    replay.findings.delete(name)
    return reach(replay, attributes)
  }

  /** Answers `unlink` and `rmdir` of a name that another client deleted. Throws ENOENT for any other name. */
  function take(replay: Replay, name: string): void {
    if (replay.findings.get(name)?.what !== 'gone') throw new ErrnoError('ENOENT', `${name} is not gone`)
    replay.findings.delete(name)
  }

  function getattr(replay: Replay, ino: number): Entry {
    const attributes = ino > firstGhost ? ghost(ino, replay) : inner.peek(ino)
    if (attributes === undefined) throw new ErrnoError('ESTALE', `node ${ino} is gone`)
    return entryOf(attributes)
  }

  return {
    ...inner,
    lookup(parent, name, caller) {
      const replay = replayOf(caller)
      // The child may look up the folders on its path as any program.
      if (replay === undefined || parent !== replay.folder) return inner.lookup(parent, name, caller)
      return lookup(replay, name)
    },
    forget(ino, count) {
      if (ino < firstGhost) inner.forget(ino, count)
    },
    getattr(ino, fh, caller) {
      const replay = replayOf(caller)
      return replay === undefined ? inner.getattr(ino, fh, caller) : getattr(replay, ino)
    },
    setattr(ino, change, fh, caller) {
      const replay = replayOf(caller)
      return replay === undefined ? inner.setattr(ino, change, fh, caller) : getattr(replay, ino)
    },
    create(parent, name, options, caller) {
      const replay = replayOf(caller)
      if (replay === undefined) return inner.create(parent, name, options, caller)
      return { entry: make(replay, name), opened }
    },
    open(ino, flags, caller) {
      const replay = replayOf(caller)
      if (replay === undefined) return inner.open(ino, flags, caller)
      if (replay.reached.has(ino)) return opened
      // The kernel had the name of a new document cached, so it opens instead of creating. After ESTALE it looks the name up again,
      // finds nothing, and creates. If the name is cached again by then, the document is opened: watchers hear of a change only.
      replay.reached.add(ino)
      throw new ErrnoError('ESTALE', `node ${ino} was not looked up yet`)
    },
    flush: (fh, caller) => (fh === replayHandle ? undefined : inner.flush(fh, caller)),
    release: (fh) => (fh === replayHandle ? undefined : inner.release(fh)),
    mkdir(parent, name, mode, caller) {
      const replay = replayOf(caller)
      return replay === undefined ? inner.mkdir(parent, name, mode, caller) : make(replay, name)
    },
    unlink(parent, name, caller) {
      const replay = replayOf(caller)
      return replay === undefined ? inner.unlink(parent, name, caller) : take(replay, name)
    },
    rmdir(parent, name, caller) {
      const replay = replayOf(caller)
      return replay === undefined ? inner.rmdir(parent, name, caller) : take(replay, name)
    },
  }
}
