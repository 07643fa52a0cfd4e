// One bare GET, for what the client hides: the answer's date and its status. It takes the way that everything takes, follows no
// redirect, so that a key never travels on, and reads no body.

import type { Transport } from '../world/transport.ts'

export interface ProbeAnswer {
  readonly status: number
  readonly date: string | undefined
  /** Where a redirect leads, absolute: a secret. */
  readonly location: string | undefined
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
  const location = answer.header('location')
  return {
    status: answer.status,
    date: answer.header('date'),
    location: location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : undefined,
  }
}
