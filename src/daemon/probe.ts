// One bare GET, for facts that the client hides: status and date of the answer. It uses the same transport (proxy,
// certificates), follows no redirect, so that no key is passed on, and reads no body.

import type { Transport } from '../world/transport.ts'

export interface ProbeAnswer {
  readonly status: number
  readonly date: string | undefined
}

/** Rejects with NetworkError, or TimeoutError when no answer comes in time. */
export async function probe(
  transport: Transport,
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ProbeAnswer> {
  const { origin, pathname, search } = new URL(url)
  const answer = await transport.download({
    call: { method: 'GET', path: pathname },
    method: 'GET',
    origin,
    target: pathname + search,
    headers: { ...headers },
    signal: AbortSignal.timeout(timeoutMs),
  })
  answer.discard()
  return { status: answer.status, date: answer.header('date') }
}
