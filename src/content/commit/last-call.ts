// The last call of an aborted attempt. The service may still carry it out, after later calls: a DELETE would delete the next
// version, a PUT bring back a document that was deleted since. So an aborted attempt waits for its call, for a while; only
// then the next attempt may begin.

import type { Timers } from '../../world/clock.ts'

/** Time that a call gets when its attempt is aborted (ms); then its connection is closed. */
const graceMs = 5_000

/**
 * Resolves with the call's result, also when the signal aborts meanwhile. Throws the signal's reason at once if the call has not
 * begun, or `isHarmless`: then it can have no effect any more.
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
  const onAbort = (): void => {
    if (isHarmless()) cut.abort(signal.reason)
    else timer = timers.setTimeout(() => cut.abort(signal.reason), graceMs)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await call(cut.signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
    timers.clear(timer)
  }
}
