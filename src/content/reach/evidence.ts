// Evidence that the outcome of a call gives about whether the service is there.

import { ApiError, NetworkError } from '../../api/errors.ts'

/**
 * - `answer`: the service is there, whatever it answered.
 * - `doubt`: there was no answer, or a gateway answered for the service.
 * - `no-service`: something else answers in its place: a captive portal, a proxy's page.
 * - `no-connection`: the service cannot be reached.
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

/** Statuses 502, 503 and 504 come from a gateway whose service is not there, for a moment or for long. */
function evidenceOfStatus({ status, isFromService }: ApiError): Evidence {
  if (!isFromService) return 'no-service'
  return status === 502 || status === 503 || status === 504 ? 'doubt' : 'answer'
}
