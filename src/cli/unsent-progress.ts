// Progress of sending. The total is the most that was left so far, since documents may be added meanwhile.

import type { Unsent } from '../fs/status.ts'
import { formatBytes } from '../amounts.ts'
import type { FoundMount } from '../daemon/find-mount.ts'
import { leftBytesOf } from '../daemon/left-bytes.ts'
import { askDrive } from './find-drive.ts'
import { type Progress, startProgress } from './progress.ts'

export interface UnsentProgress {
  update(left: { readonly unsent: number; readonly leftBytes: number }): void
  /** Reason why the unmount still waits, in words. */
  blocked(words: string): void
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
      progress.tell(unsent === 0 ? '' : `${unsent} ${unsent === 1 ? 'change' : 'changes'} left`)
    },
    blocked: (words) => progress.tell(words),
    end: () => progress.end(),
  }
}

const lookEveryMs = 500

/** Shows how far the sending of what is at or under `path` is, until `end` is called. Never fails. */
export function followUnsent(found: FoundMount, path: string, isQuiet: boolean | undefined): UnsentProgress {
  const progress = startUnsentProgress('sending', isQuiet)
  async function look(): Promise<void> {
    const { unsent } = await askDrive(found, 'status', { path })
    progress.update({ unsent: unsent.length, leftBytes: leftBytesOf(unsent) })
  }
  // Errors are told by the answer that the command waits for.
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs).unref()
  void look().catch(() => {})
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
