// The trace of `--verbose`: each operation and each call to the service, with paths in the project, never a URL or a key.

import type { RequestRecord } from '../api/types.ts'
import type { OperationRecord } from '../fs/contract.ts'
import type { Log } from '../log.ts'

export interface Trace {
  readonly onOperation: (record: OperationRecord) => void
  readonly onRequest: (record: RequestRecord) => void
}

export function traceInto(log: Log): Trace {
  return {
    onOperation({ operation, path, result, elapsedUs }) {
      log.debug({ path, result, us: elapsedUs }, operation)
    },
    onRequest({ kind, method, path, status, attempt, elapsedMs, bytes }) {
      const fields = { path, status: status ?? 'none', attempt, ms: Math.round(elapsedMs * 10) / 10, bytes }
      log.debug(fields, kind === 'download' ? 'download' : method)
    },
  }
}
