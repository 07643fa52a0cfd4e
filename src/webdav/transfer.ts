// The checks of a COPY or MOVE, and the removal of what is at its destination.

import { checkConditions } from './conditions.ts'
import type { Exchange } from './exchange.ts'
import { pathOf } from './names.ts'
import { Refused } from './refused.ts'
import { removeTree } from './remove.ts'
import { treeOf } from './resource-tree.ts'
import { statusOf } from './status-of.ts'
import type { Place, Resource } from './path-walk.ts'
import { isAtOrUnder } from '../path.ts'

export interface Transfer {
  readonly source: Resource
  readonly place: Place
  /** Names of the destination: those on the drive if it exists, else (`place.name`) the client's spelling. */
  readonly names: readonly string[]
  /** Resource at the destination now. */
  readonly before: Resource | undefined
}

/** Resolves with source and destination of the request. `leaves`: true for MOVE. Throws Refused: 403, 404, 409, 412, 423, 502. */
export async function checkTransfer(exchange: Exchange, { leaves }: { leaves: boolean }): Promise<Transfer> {
  const { walk, request, destination } = exchange
  await exchange.refuseBody()
  const source = await walk.get(exchange.names)
  const from = await walk.placeOf(source.names)
  const before = await walk.find(destination)
  const place = await walk.placeOf(destination)
  const names = before?.names ?? [...place.parent.names, place.name]
  const fromPath = pathOf(source.names)
  const toPath = pathOf(names)
  if (fromPath === toPath) throw new Refused(403, 'source and destination are the same')
  if (isAtOrUnder(toPath, fromPath)) throw new Refused(403, 'a folder does not go into itself')
  if (isAtOrUnder(fromPath, toPath)) throw new Refused(403, 'the destination is a folder above the source')
  if (before !== undefined && !exchange.mayOverwrite)
    throw new Refused(412, 'there is something by that name already')
  await exchange.checkLocks(
    ...(leaves
      ? [
          { names: source.names, reach: 'tree' as const },
          { names: from.parent.names, reach: 'one' as const },
        ]
      : []),
    { names, reach: 'tree' },
    { names: place.parent.names, reach: 'one' },
  )
  checkConditions(request.headers, source.attributes, false)
  return { source, place, names, before }
}

/**
 * Removes the resource at the destination, after the whole source was listed: a source that cannot be listed must not replace
 * it. Throws Refused (409, or the drive's error) if some of it cannot be removed.
 */
export async function removeDestination(
  { walk, door }: Exchange,
  { source, before }: { source: Resource; before: Resource },
): Promise<void> {
  await treeOf(walk, source)
  const [failure] = await removeTree(walk, door, before)
  if (failure === undefined) return
  const { status, sentence } = statusOf(failure.error)
  throw new Refused(status, `${failure.resource.names.at(-1) ?? ''} at the destination stays: ${sentence}`)
}
