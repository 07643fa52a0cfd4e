// One bare GET, for what the client hides: the answer's date and its status. Follows no redirect, so that a key never
// travels on; reads no body.

import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

export interface ProbeAnswer {
  readonly status: number
  readonly date: string | undefined
}

/** Rejects with the system's error when no answer comes in time. */
export function probe(
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ProbeAnswer> {
  const get = url.startsWith('https:') ? getHttps : getHttp
  return new Promise((answered, failed) => {
    const request = get(
      url,
      { headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      ({ statusCode, headers: { date } }) => {
        answered({ status: statusCode ?? 0, date })
        request.destroy()
      },
    )
    request.on('error', failed)
  })
}
