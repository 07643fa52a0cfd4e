// Waiting that can be given up without ending what is waited for.

/** The promise's outcome, or the signal's reason as soon as it is aborted; the work behind the promise goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {})
    throw signal.reason
  }
  let giveUp: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error)
    signal.addEventListener('abort', giveUp, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
  }
}
