// The answer to a change of many resources of which some failed.

import type { Exchange } from './exchange.ts'
import { hrefOf, pathOf } from './names.ts'
import type { Failure } from './remove.ts'
import { statusOf } from './status-of.ts'
import { multistatusEnd, multistatusHead, statusResponse } from './xml-write.ts'

/** Answers 207 with the failures. Throws the error if only the request's own resource failed. */
export function answerFailures(exchange: Exchange, failures: readonly Failure[]): void {
  const own = pathOf(exchange.names)
  const first = failures.find(({ resource }) => pathOf(resource.names) === own)
  if (first !== undefined && failures.length === 1) throw first.error
  const responses = failures.map(({ resource, error }) => {
    const { status, sentence } = statusOf(error)
    return statusResponse(hrefOf(resource.names, resource.attributes.kind === 'folder'), status, sentence)
  })
  exchange.endXml(207, multistatusHead + responses.join('') + multistatusEnd)
}
