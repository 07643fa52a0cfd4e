// Ends a piece of work that goes on over several attempts. One AbortController per attempt and none beside it: they are
// the dearest part of a small download.

export class Cancellation {
  #attempt: AbortController | undefined
  #reason: Error | undefined

  get isCancelled(): boolean {
    return this.#reason !== undefined
  }

  throwIfCancelled(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** The controller of the next attempt, aborted when the work is cancelled. */
  begin(): AbortController {
    this.#attempt = new AbortController()
    if (this.#reason !== undefined) this.#attempt.abort(this.#reason)
    return this.#attempt
  }

  cancel(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#attempt?.abort(reason)
  }
}

/** Runs work that a signal cancels. */
export async function cancelledBy<T>(
  signal: AbortSignal,
  work: (cancellation: Cancellation) => Promise<T>,
): Promise<T> {
  const cancellation = new Cancellation()
  const cancel = (): void => cancellation.cancel(signal.reason as Error)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await work(cancellation)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
