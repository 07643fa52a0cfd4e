// Operations that answer the calls of a replay as the kernel has to see them, and change nothing. All other calls pass.

import { ErrnoError } from '../../errno-error.ts'
import type { FileSystem } from '../../fs/contract.ts'
import type { Attributes, Caller, Entry, Opened, Operations } from '../../fs/operations.ts'
import type { Replay } from './replay.ts'

/** The handle of every document that a replay opens: no other has this number. */
const replayHandle = 0
const opened: Opened = { fh: replayHandle, keepCache: true, directIo: false, hasNothingToFlush: true }
/** Numbers of what is not in the drive: the names of replays, and documents gone that nobody had looked at. */
const firstGhost = 2 ** 52

/** `current`: the replay that runs. */
export function withReplay(inner: FileSystem, current: () => Replay | undefined): Operations {
  let lastGhost = firstGhost

  const replayOf = ({ pid }: Caller): Replay | undefined => {
    const replay = current()
    return replay?.pid === pid ? replay : undefined
  }

  /** Programs that come after ask for themselves: they would not count as told otherwise. */
  const entryOf = (attributes: Attributes): Entry => ({ attributes, entryTtlMs: 0, attributeTtlMs: 0 })
  const nothing = { attributes: undefined, entryTtlMs: 0 } as const

  /** Takes a reference. */
  function reach(replay: Replay, attributes: Attributes): Entry {
    inner.remember(attributes.ino)
    replay.reached.add(attributes.ino)
    return entryOf(attributes)
  }

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
        // Those who watch the document, or have it open, know it by this number.
        const known = finding.ino === undefined ? undefined : inner.peek(finding.ino)
        if (known === undefined) return entryOf(ghost(++lastGhost, replay, finding.kind))
        return reach(replay, { ...known, nlink: 1 })
      }
      case 'made':
      case undefined:
        return nothing
    }
  }

  /** The node is there, and is new to the kernel. */
  function make(replay: Replay, name: string): Entry {
    const finding = replay.findings.get(name)
    const attributes = inner.peekName(replay.folder, name)
    if (finding?.what !== 'made' || attributes?.kind !== finding.kind)
      throw new ErrnoError('ENOENT', `${name} is not to be made`)
    replay.findings.delete(name)
    return reach(replay, attributes)
  }

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
      // On its way to the folder.
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
      // A program has looked the name up meanwhile, or long ago. The kernel asks for the name again, once, and then makes the
      // document; but if a program is as quick again, it opens it.
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
