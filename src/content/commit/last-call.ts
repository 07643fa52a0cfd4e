// A DELETE that nobody waits for any more may still be carried out, later than what comes next: it would take the next
// version away. So whoever gives an attempt up waits for its DELETE, for a while; only then the next attempt looks.

import type { Timers } from '../../world/clock.ts'

/** How long a DELETE may go on when its attempt is given up (ms); after that its connection is closed. */
const graceMs = 5_000

/** The call's outcome. Throws the signal's reason at once where the call has not begun. */
export async function untilAnswered<T>(
  timers: Timers,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const cut = new AbortController()
  let timer: ReturnType<Timers['setTimeout']> | undefined
  const givenUp = (): void => {
    timer = timers.setTimeout(() => cut.abort(signal.reason), graceMs)
  }
  signal.addEventListener('abort', givenUp, { once: true })
  try {
    return await call(cut.signal)
  } finally {
    signal.removeEventListener('abort', givenUp)
    timers.clear(timer)
  }
}
