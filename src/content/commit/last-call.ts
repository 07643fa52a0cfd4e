// A call that nobody waits for any more may still be carried out, later than what comes next: a DELETE would take the next
// version away, a PUT bring back what was deleted since. So whoever gives an attempt up waits for its call, for a while; only
// then the next attempt looks.

import type { Timers } from '../../world/clock.ts'

/** How long a call may go on when its attempt is given up (ms); after that its connection is closed. */
const graceMs = 5_000

/**
 * The call's outcome. Throws the signal's reason at once where the call has not begun, and where it `isHarmless`: nothing can
 * come of it any more.
 */
export async function untilAnswered<T>(
  timers: Timers,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
  isHarmless: () => boolean = () => false,
): Promise<T> {
  signal.throwIfAborted()
  const cut = new AbortController()
  let timer: ReturnType<Timers['setTimeout']> | undefined
  const givenUp = (): void => {
    if (isHarmless()) cut.abort(signal.reason)
    else timer = timers.setTimeout(() => cut.abort(signal.reason), graceMs)
  }
  signal.addEventListener('abort', givenUp, { once: true })
  try {
    return await call(cut.signal)
  } finally {
    signal.removeEventListener('abort', givenUp)
    timers.clear(timer)
  }
}
