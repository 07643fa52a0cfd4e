// Cancellation of work that may take several attempts. There is one AbortController per attempt, and no other, because they
// are the most expensive part of a small download.

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

/** Runs work with a cancellation that the signal triggers. */
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
