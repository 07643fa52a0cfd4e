// A question that hangs is asked a second time, once, and the first answer counts: its connection may be dead while the
// service is well.

import type { Clock } from '../../world/clock.ts'
import type { CallOptions } from '../../api/types.ts'

/**
 * Asks, and once more when `mayAskAgain` is called before there is an answer. The second has what is left of the time.
 * Rejects when all that were asked have failed, with the first failure.
 */
export function askedAgain<T>(
  clock: Clock,
  options: CallOptions | undefined,
  ask: (options: CallOptions | undefined, mayAskAgain: () => void) => Promise<T>,
): Promise<T> {
  const startedAt = clock.monotonic()
  return new Promise((resolve, reject) => {
    let open = 0
    let isOver = false
    let isRepeated = false
    let failure: unknown
    const begin = (how: CallOptions | undefined): void => {
      open++
      ask(how, again).then(
        (answer) => {
          isOver = true
          resolve(answer)
        },
        (error: unknown) => {
          failure ??= error
          if (--open > 0 || isOver) return
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
