// How long the engines behind a service take: each call is told here, and costs nothing where nobody listens. Of the whole
// process, as its memory and its event loop are.

import { channel } from 'node:diagnostics_channel'

export interface StoreCall {
  readonly engine: 'postgres' | 's3'
  /** `GET` and the like of S3; `query` or `connect` of PostgreSQL. */
  readonly operation: string
  readonly ms: number
  readonly hasFailed: boolean
}

const calls = channel('docmount:store-call')

/** Measures `work` from its beginning to its answer. */
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

/** The answer ends it. */
export function watchStoreCalls(note: (call: StoreCall) => void): () => void {
  const listen = (call: unknown): void => note(call as StoreCall)
  calls.subscribe(listen)
  return () => {
    calls.unsubscribe(listen)
  }
}
