// MKCOL: a new folder. The service learns of it when a document lands in it, as with every folder made on the drive.

import type { Exchange } from '../exchange.ts'
import { Refused } from '../refused.ts'

export async function mkcol(exchange: Exchange): Promise<void> {
  const { walk, names } = exchange
  await exchange.noBody()
  if ((await walk.find(names)) !== undefined)
    throw new Refused(405, 'there is something by that name already')
  const { parent, name } = await walk.placeOf(names)
  await exchange.mayChange({ names: parent.names, reach: 'one' }, { names, reach: 'one' })
  const { attributes } = await walk.operations.mkdir(parent.attributes.ino, name, 0o755, walk.lasting)
  walk.hold(attributes.ino)
  exchange.end(201, exchange.created([...parent.names, name], true))
}
