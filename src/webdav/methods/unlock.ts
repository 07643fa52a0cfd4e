// UNLOCK: removes a lock, and closes an empty document that is open under it.

import type { Exchange } from '../exchange.ts'
import { pathOf } from '../names.ts'
import { Refused } from '../refused.ts'

export async function unlock(exchange: Exchange): Promise<void> {
  const { walk, door, names } = exchange
  await exchange.refuseBody()
  const token = /^\s*<([^>]+)>\s*$/.exec(exchange.header('lock-token') ?? '')?.[1]
  if (token === undefined) throw new Refused(400, 'a Lock-Token header is needed')
  const resource = await walk.find(names)
  const path = pathOf(resource?.names ?? names)
  if (!door.locks.remove(path, token)) {
    const condition = 'lock-token-matches-request-uri'
    throw new Refused(409, 'there is no such lock here', { condition })
  }
  door.pendingPuts.end(path)
  door.emptyDocuments.remove(path)
  exchange.end(204)
}
