// DELETE: a document, or a folder with everything in it.

import { checkConditions } from '../conditions.ts'
import type { Exchange } from '../exchange.ts'
import { Refused } from '../refused.ts'
import { removeTree } from '../remove.ts'
import { answerFailures } from '../answer-failures.ts'

export async function remove(exchange: Exchange): Promise<void> {
  const { walk, request, door } = exchange
  await exchange.refuseBody()
  const resource = await walk.get(exchange.names)
  const { parent } = await walk.placeOf(resource.names)
  if (resource.attributes.kind === 'folder' && exchange.depth !== 'infinity')
    throw new Refused(400, 'a folder is deleted with everything in it: Depth is infinity')
  await exchange.checkLocks({ names: resource.names, reach: 'tree' }, { names: parent.names, reach: 'one' })
  checkConditions(request.headers, resource.attributes, false)
  const failures = await removeTree(walk, door, resource)
  if (failures.length > 0) answerFailures(exchange, failures)
  else exchange.end(204)
}
