// Steps when the service goes away, and when it comes back: the queue pauses and goes on, old listings are asked for anew, the
// person is notified. content/reach decides when it is away.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Clock } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'
import type { Tree } from '../tree/tree.ts'
import { Backlog } from '../unsent/backlog.ts'

interface Parts {
  readonly reach: Reach
  readonly queue: CommitQueue
  readonly tree: Tree
  readonly clock: Clock
  readonly tell: (notice: Notice) => void
}

/** Takes these steps for as long as the drive runs. */
export function followReach({ reach, queue, tree, clock, tell }: Parts): void {
  const backlog = new Backlog({ queue, clock, onSent: () => tell({ kind: 'done' }) })
  reach.onChange((state, before) => {
    if (state === 'away') {
      queue.pause()
      tell({ kind: 'away' })
    }
    if (state !== 'reachable' || before !== 'away') return
    tell({ kind: 'back' })
    queue.goOn()
    backlog.follow()
    void tree.endStale()
  })
}
