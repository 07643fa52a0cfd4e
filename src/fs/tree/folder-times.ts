// When the names of a folder last changed: the service does not say, so it is what this drive saw. Kept for folders whose
// node is gone, so that what was shown does not go back; a new mount begins with its own time, which is later.

import { LRUCache } from 'lru-cache'
import { timeOfMs } from './attributes.ts'
import type { Node } from './node.ts'
import type { Time } from '../operations.ts'

/** Folders whose times are remembered though nobody looks at them. */
const mostFolders = 50_000

interface Times {
  readonly mtime: Time | undefined
  readonly ctime: Time | undefined
}

export class FolderTimes {
  /** Times of folders without a node, by path. */
  readonly #gone: LRUCache<string, Times>
  /** Latest ctime of the folders that were forgotten for want of space: one that is not remembered starts with it, and never goes back. */
  #floor: Time | undefined

  constructor(limit: number = mostFolders) {
    this.#gone = new LRUCache({
      // Not `max`: lru-cache makes room for that many at once.
      maxSize: limit,
      sizeCalculation: () => 1,
      dispose: ({ ctime }, _path, reason) => {
        if (reason === 'evict') this.#floor = later(this.#floor, ctime)
      },
    })
  }

  /** A name in the folder came, went or stands for something else. */
  changed(folder: Node, nowMs: number): void {
    folder.times.changed(timeOfMs(nowMs))
  }

  /** The folder's node goes. */
  left(folder: Node): void {
    const { mtime, ctime } = folder.times
    if (folder.isUnlinked || (mtime === undefined && ctime === undefined)) return
    this.#gone.set(folder.path, { mtime, ctime })
  }

  /** The folder has a node again. */
  recall(folder: Node): void {
    const { path } = folder
    const times = this.#gone.get(path)
    folder.times.reset({ mtime: times?.mtime ?? this.#floor, ctime: times?.ctime ?? this.#floor })
    this.#gone.delete(path)
  }
}

function later(one: Time | undefined, other: Time | undefined): Time | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.sec > other.sec || (one.sec === other.sec && one.nsec > other.nsec) ? one : other
}
