// Times when the names of a folder last changed, as far as this drive saw: the service does not tell them. They are kept when
// the node of a folder is dropped, so that the times shown never go back; a new mount begins with its own time, which is later.

import { LRUCache } from 'lru-cache'
import { timeOfMs } from './attributes.ts'
import type { Node } from './node.ts'
import type { Time } from '../operations.ts'

/** Most folders without a node whose times are remembered. */
const mostFolders = 50_000

interface Times {
  readonly mtime: Time | undefined
  readonly ctime: Time | undefined
}

export class FolderTimes {
  /** Times of folders without a node, by path. */
  readonly #gone: LRUCache<string, Times>
  /** Latest ctime of the evicted folders: a folder that is not remembered starts with it, so that its times never go back. */
  #floor: Time | undefined

  constructor(limit: number = mostFolders) {
    this.#gone = new LRUCache({
      // Not `max`: lru-cache allocates memory for that many at once.
      maxSize: limit,
      sizeCalculation: () => 1,
      dispose: ({ ctime }, _path, reason) => {
        if (reason === 'evict') this.#floor = later(this.#floor, ctime)
      },
    })
  }

  /** A name in the folder appeared, disappeared or refers to another node. */
  changed(folder: Node, nowMs: number): void {
    folder.times.changed(timeOfMs(nowMs))
  }

  /** The folder's node is being dropped. */
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
