// Evidence of a call's outcome: whether the service is there.

import { ApiError, NetworkError } from '../../api/errors.ts'

/**
 * - `answer`: it is there, whatever it said.
 * - `doubt`: nothing came, or what came is not the service's.
 * - `no-service`: something else stands in its place: a captive portal, a proxy's page.
 * - `no-connection`: it cannot be reached.
 * - `nothing`: the call ended for reasons of our own.
 */
export type Evidence = 'answer' | 'doubt' | 'no-service' | 'no-connection' | 'nothing'

export function evidenceOf(error: unknown): Evidence {
  if (error instanceof ApiError) return evidenceOfStatus(error)
  if (!(error instanceof NetworkError)) return 'nothing'
  switch (error.kind) {
    case 'unreachable':
      return 'no-connection'
    case 'protocol':
      return 'no-service'
    case 'cut':
    case 'deadline':
      return 'doubt'
    case 'away':
      return 'nothing'
  }
}

/** A gateway answers 502, 503 and 504 for a service that is not there, in a moment or for long. */
function evidenceOfStatus({ status, isFromService }: ApiError): Evidence {
  if (!isFromService) return 'no-service'
  return status === 502 || status === 503 || status === 504 ? 'doubt' : 'answer'
}
