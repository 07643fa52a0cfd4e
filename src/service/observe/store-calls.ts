// Durations of calls to PostgreSQL and S3, on a diagnostics channel: measuring costs nothing without a subscriber. The channel
// is global, so a subscriber sees the calls of all services of the process.

import { channel } from 'node:diagnostics_channel'

export interface StoreCall {
  readonly engine: 'postgres' | 's3'
  /** S3: the HTTP method; PostgreSQL: `query` or `connect`. */
  readonly operation: string
  readonly ms: number
  readonly hasFailed: boolean
}

const calls = channel('docmount:store-call')

/** Runs `work`, and publishes its duration. */
export async function timeStoreCall<Answer>(
  engine: StoreCall['engine'],
  operation: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (!calls.hasSubscribers) return work()
  const begun = performance.now()
  let hasFailed = true
  try {
    const answer = await work()
    hasFailed = false
    return answer
  } finally {
    calls.publish({ engine, operation, ms: performance.now() - begun, hasFailed } satisfies StoreCall)
  }
}

/** Calls `note` for every call, until the returned function is called. */
export function watchStoreCalls(note: (call: StoreCall) => void): () => void {
  const listen = (call: unknown): void => note(call as StoreCall)
  calls.subscribe(listen)
  return () => {
    calls.unsubscribe(listen)
  }
}
