// Progress of sending, for `unmount` and `wait`. The total is the largest amount left so far: documents may be added meanwhile.

import type { Unsent } from '../fs/status.ts'
import { formatBytes } from '../amounts.ts'
import type { FoundMount } from '../daemon/find-mount.ts'
import { leftBytesOf } from '../daemon/left-bytes.ts'
import { askDrive } from './find-drive.ts'
import { type Progress, startProgress } from './progress.ts'

export interface UnsentProgress {
  update(left: { readonly unsent: number; readonly leftBytes: number }): void
  /** Shows why the unmount waits. */
  blocked(reason: string): void
  end(): void
}

export function startUnsentProgress(label: string, isQuiet: boolean | undefined): UnsentProgress {
  let most = 0
  let isBytes = false
  const progress: Progress = startProgress(label, {
    isQuiet,
    format: (count) => (isBytes ? formatBytes(count) : ''),
  })
  return {
    update({ unsent, leftBytes }) {
      most = Math.max(most, leftBytes)
      isBytes = most > 0
      progress.set(most - leftBytes, most)
      progress.setNote(unsent === 0 ? '' : `${unsent} ${unsent === 1 ? 'change' : 'changes'} left`)
    },
    blocked: (reason) => progress.setNote(reason),
    end: () => progress.end(),
  }
}

const pollMs = 500

/** Shows the progress of sending changes at and under `path`, until `end` is called. Never fails. */
export function followUnsent(found: FoundMount, path: string, isQuiet: boolean | undefined): UnsentProgress {
  const progress = startUnsentProgress('sending', isQuiet)
  async function poll(): Promise<void> {
    const { unsent } = await askDrive(found, 'status', { path })
    progress.update({ unsent: unsent.length, leftBytes: leftBytesOf(unsent) })
  }
  // Errors are ignored: the command waits for another answer of the daemon, which fails, too.
  const timer = setInterval(() => void poll().catch(() => {}), pollMs).unref()
  void poll().catch(() => {})
  return {
    ...progress,
    end() {
      clearInterval(timer)
      progress.end()
    },
  }
}

export function bytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes }) => sum + bytes, 0)
}
