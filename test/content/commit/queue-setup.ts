// A commit queue over a real journal, with clocks of the test's own and a function that stands for the work.

import { realWorld } from '../../../src/world/world.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import { createClock, type Clock } from '../../../src/world/clock.ts'
import { CommitQueue, type CommitQueueOptions } from '../../../src/content/commit/commit-queue.ts'
import { errnoOf } from '../../../src/fs/errno-of.ts'
import type { QueueEvent } from '../../../src/content/commit/queue-event.ts'
import type { Intention } from '../../../src/content/intention.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { silentLog } from '../../../src/log.ts'

export type Work = (intention: Intention, signal: AbortSignal) => Promise<RemoteFile | undefined>

export interface QueueSetup {
  readonly queue: CommitQueue
  readonly journal: Journal
  /** Somebody sets the wall clock. */
  setWallClock(byMs: number): void
  /** No content at the source of a refused move can be brought here. */
  isVain: boolean
  /** Events of the queue, oldest first. */
  readonly events: QueueEvent[]
  /** As after the end of the process: a new queue on the same journal. */
  restart(): Promise<void>
  /** Lets so much time go by, and everything happen that is due. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

/** Timers, immediates and clocks are faked from now on: `vi.useRealTimers()` ends it. */
export function setUpQueue(work: Work, given: Pick<CommitQueueOptions, 'atOnce'> = {}): QueueSetup {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date', 'performance'],
  })
  const dir = mkdtempSync(join(tmpdir(), 'commit-queue-'))
  const events: QueueEvent[] = []
  const step = { ms: 0 }
  const clock: Clock = createClock(() => Date.now() + step.ms)
  const open = (): { journal: Journal; queue: CommitQueue } => {
    const journal = new Journal(dir, realWorld())
    const options: CommitQueueOptions = {
      journal,
      log: silentLog,
      clock,
      chance: realWorld().chance,
      ask: {
        errnoOf,
        async materialize(intention, take, signal) {
          await work(intention, signal)
          take(intention.spool === undefined && !setup.isVain ? { spool: 'brought' } : {})
        },
      },
      run: work,
      deleteSource: async () => {},
      isSourceReplaced: async () => true,
      say: (event) => void events.push(event),
      ...given,
    }
    return { journal, queue: new CommitQueue(options) }
  }
  const end = async (): Promise<void> => {
    await setup.queue.close()
    setup.journal.close()
  }
  const setup = {
    setWallClock: (byMs: number) => void (step.ms += byMs),
    events,
    isVain: false,
    async restart() {
      await end()
      Object.assign(setup, open())
      setup.queue.resume(setup.journal.intentions.all())
    },
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
    },
    async close() {
      await end()
      rmSync(dir, { recursive: true })
    },
  } as QueueSetup
  return Object.assign(setup, open())
}
