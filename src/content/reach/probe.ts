// Asks now and then whether a service that was out of reach is back, so that what waits goes on by itself.

import type { WatchedFiles } from './watched-files.ts'

const everyMs = 3_000

/** Watches while the service is out of reach, and only then. Answers how to stop. */
export function probeWhileUnreachable(files: WatchedFiles): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const probe = async (): Promise<void> => {
    // Any answer at all makes the gauge say so.
    await files.get('/', { attempts: 1, deadlineMs: everyMs }).catch(() => {})
    timer = undefined
    if (!files.isReachable && !isStopped) schedule()
  }
  const schedule = (): void => {
    timer ??= setTimeout(() => void probe(), everyMs).unref()
  }
  files.onUnreachable = schedule
  if (!files.isReachable) schedule()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
