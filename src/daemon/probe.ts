// One bare GET, for what the client hides: the answer's date and its status. Follows no redirect, so that a key never
// travels on; reads no body.

import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

export interface ProbeAnswer {
  readonly status: number
  readonly date: string | undefined
  /** Where a redirect leads, absolute: a secret. */
  readonly location: string | undefined
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
      ({ statusCode, headers: { date, location } }) => {
        const isPlace = location !== undefined && URL.canParse(location, url)
        const next = isPlace ? new URL(location, url).href : undefined
        answered({ status: statusCode ?? 0, date, location: next })
        request.destroy()
      },
    )
    request.on('error', failed)
  })
}
