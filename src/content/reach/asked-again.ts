// A call that hangs is made a second time, and the first answer counts: the connection may be dead while the service is there.

import type { Clock } from '../../world/clock.ts'
import type { CallOptions } from '../../api/types.ts'

/**
 * Makes the call `ask`, and once more if the function `mayAskAgain` that it gets is called before an answer (if a
 * probe is answered meanwhile). The second gets the remaining time. Rejects when all have failed, with the first failure.
 */
export function askedAgain<T>(
  clock: Clock,
  options: CallOptions | undefined,
  ask: (options: CallOptions | undefined, mayAskAgain: () => void) => Promise<T>,
): Promise<T> {
  const startedAt = clock.monotonic()
  return new Promise((resolve, reject) => {
    let pending = 0
    let isOver = false
    let isRepeated = false
    let failure: unknown
    const begin = (callOptions: CallOptions | undefined): void => {
      pending++
      ask(callOptions, again).then(
        (answer) => {
          isOver = true
          resolve(answer)
        },
        (error: unknown) => {
          failure ??= error
          if (--pending > 0 || isOver) return
          isOver = true
          reject(failure)
        },
      )
    }
    const again = (): void => {
      if (isOver || isRepeated) return
      isRepeated = true
      begin(remaining(options, clock.monotonic() - startedAt))
    }
    begin(options)
  })
}

function remaining(options: CallOptions | undefined, passedMs: number): CallOptions | undefined {
  if (options?.deadlineMs === undefined) return options
  return { ...options, deadlineMs: Math.max(1, options.deadlineMs - passedMs) }
}
