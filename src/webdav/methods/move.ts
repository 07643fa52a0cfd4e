// MOVE: a rename on the drive. No content is copied, and a document at the destination is replaced in one step.

import { ErrnoError } from '../../errno-error.ts'
import { checkTransfer, removeDestination } from '../transfer.ts'
import type { Exchange } from '../exchange.ts'
import { pathOf } from '../names.ts'
import type { Place, Resource } from '../path-walk.ts'
import { isAtOrUnder } from '../../path.ts'

export async function move(exchange: Exchange): Promise<void> {
  const { walk, door } = exchange
  const transfer = await checkTransfer(exchange, { leaves: true })
  const { source, place, names, before } = transfer
  const [fromPath, toPath] = [pathOf(source.names), pathOf(names)]
  await door.pendingPuts.closeMatching((path) => isAtOrUnder(path, fromPath) || path === toPath)
  const bothDocuments = before?.attributes.kind === 'file' && source.attributes.kind === 'file'
  if (before !== undefined && !bothDocuments) await removeDestination(exchange, { source, before })
  const from = await walk.placeOf(source.names)
  await rename(exchange, source, from, { ...place, name: names.at(-1) ?? '' })
  door.locks.removeBelow(fromPath)
  await door.properties.remove(toPath)
  await door.properties.move(fromPath, toPath)
  if (before !== undefined) exchange.end(204)
  else exchange.end(201, exchange.locationOf(names, source.attributes.kind === 'folder'))
}

/** Renames; a folder with more documents than the drive renames at once (EXDEV), child by child. */
async function rename(exchange: Exchange, source: Resource, from: Place, to: Place): Promise<void> {
  const { walk } = exchange
  const { operations, changeCaller } = walk
  const [fromIno, toIno] = [from.parent.attributes.ino, to.parent.attributes.ino]
  const flags = { noReplace: !exchange.mayOverwrite, exchange: false }
  try {
    await operations.rename(fromIno, from.name, toIno, to.name, flags, changeCaller)
  } catch (error) {
    if (!(error instanceof ErrnoError) || error.code !== 'EXDEV') throw error
    const { attributes } = await operations.mkdir(toIno, to.name, source.attributes.mode, changeCaller)
    walk.holdNode(attributes.ino)
    const parent = { names: [...to.parent.names, to.name], attributes }
    for (const child of await walk.children(source, true)) {
      const name = child.names.at(-1) ?? ''
      await rename(exchange, child, { parent: source, name }, { parent, name })
    }
    await operations.rmdir(fromIno, from.name, changeCaller)
  }
}
