// MKCOL: creates a folder. As any folder on the drive, it is at the service only once a document is in it.

import type { Exchange } from '../exchange.ts'
import { Refused } from '../refused.ts'

export async function mkcol(exchange: Exchange): Promise<void> {
  const { walk, names } = exchange
  await exchange.refuseBody()
  if ((await walk.find(names)) !== undefined)
    throw new Refused(405, 'there is something by that name already')
  const { parent, name } = await walk.placeOf(names)
  await exchange.checkLocks({ names: parent.names, reach: 'one' }, { names, reach: 'one' })
  const { attributes } = await walk.operations.mkdir(parent.attributes.ino, name, 0o755, walk.changeCaller)
  walk.holdNode(attributes.ino)
  exchange.end(201, exchange.locationOf([...parent.names, name], true))
}
