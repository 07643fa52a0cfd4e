// LOCK: creates a lock, or refreshes its timeout. For a free name an empty document is created (RFC 4918, section 7.3).

import { defaultLockMs, type Exchange } from '../exchange.ts'
import { parseIfHeader, tokensIn } from '../if-header.ts'
import { activeLock } from '../live-properties.ts'
import type { Lock } from '../locks.ts'
import { hrefOf, pathOf } from '../names.ts'
import type { Place } from '../path-walk.ts'
import { Refused } from '../refused.ts'
import { davChildren, type Element } from '../xml-read.ts'
import { dav, xmlHead } from '../xml-write.ts'

export async function lock(exchange: Exchange): Promise<void> {
  const { walk, door } = exchange
  const body = await exchange.xml()
  const found = await walk.find(exchange.names)
  if (body === undefined) {
    // Only the `If` header is checked; `refresh` looks for the lock.
    await exchange.checkLocks()
    return refresh(exchange, pathOf(found?.names ?? exchange.names))
  }
  const { depth } = exchange
  if (depth === 1) throw new Refused(400, 'a lock has Depth 0 or infinity')
  const { isShared, owner } = lockInfoOf(body)
  const place = found === undefined ? await walk.placeOf(exchange.names) : undefined
  const names = found?.names ?? [...(place?.parent.names ?? []), place?.name ?? '']
  const path = pathOf(names)
  // A new name changes its folder. Locks of the resource itself are compared by `locks.add`.
  await exchange.checkLocks(
    ...(place === undefined ? [] : [{ names: place.parent.names, reach: 'one' as const }]),
  )
  if (place !== undefined && !(await hasRoomForAnother(exchange)))
    throw new Refused(503, 'too many documents that this client locked are still empty: fill or delete some')
  const added = door.locks.add({
    path,
    client: exchange.client,
    isShared,
    isDeep: depth === 'infinity',
    owner,
    timeoutMs: exchange.lockTimeoutMs ?? defaultLockMs,
  })
  if (added === 'full') throw new Refused(503, 'there are too many locks: give some back')
  if ('inTheWay' in added) {
    const href = hrefOf(
      added.inTheWay.path.split('/').filter((name) => name !== ''),
      false,
    )
    throw new Refused(423, 'somebody else is editing it', { condition: 'no-conflicting-lock', href })
  }
  if (place !== undefined) {
    await createEmpty(exchange, added.lock, place)
    door.emptyDocuments.add(path, exchange.client)
  }
  answer(exchange, place === undefined ? 200 : 201, added.lock)
}

/** True if the client may create another empty document. Those filled, removed or moved meanwhile do not count. */
async function hasRoomForAnother({ walk, door, client }: Exchange): Promise<boolean> {
  return door.emptyDocuments.canAdd(client, async (path) => {
    const found = await walk.find(path.split('/').slice(1))
    return found?.attributes.kind === 'file' && found.attributes.size === 0
  })
}

/** Creates an empty document and keeps it open, so that the PUT that follows is part of the same save. Undone if it fails. */
async function createEmpty({ walk, door }: Exchange, { path, token }: Lock, place: Place): Promise<void> {
  try {
    const opened = await walk.create(place, 0o644)
    try {
      await walk.operations.flush(opened.fh, walk.changeCaller)
    } catch (error) {
      await walk.undoCreate(place, opened)
      throw error
    }
    const isLocked = (): boolean => door.locks.covering(path).length > 0
    door.pendingPuts.keep(path, opened, isLocked)
  } catch (error) {
    door.locks.remove(path, token)
    throw error
  }
}

async function refresh(exchange: Exchange, path: string): Promise<void> {
  const header = exchange.header('if')
  if (header === undefined) throw new Refused(400, 'a LOCK without a body renews the lock of its If header')
  for (const token of tokensIn(parseIfHeader(header))) {
    const renewed = exchange.door.locks.refresh(path, token, exchange.lockTimeoutMs)
    if (renewed !== undefined) return answer(exchange, 200, renewed)
  }
  throw new Refused(412, 'there is no such lock here', { condition: 'lock-token-matches-request-uri' })
}

function lockInfoOf(body: Element): { isShared: boolean; owner: string } {
  const [scope] = davChildren(body, 'lockscope')
  const [type] = davChildren(body, 'locktype')
  const isWellFormed = body.uri === 'DAV:' && body.local === 'lockinfo' && scope !== undefined
  if (!isWellFormed || type === undefined || davChildren(type, 'write').length === 0)
    throw new Refused(400, 'the body is no lockinfo of a write lock')
  const isShared = davChildren(scope, 'shared').length > 0
  if (!isShared && davChildren(scope, 'exclusive').length === 0)
    throw new Refused(400, 'a lock is exclusive or shared')
  return { isShared, owner: davChildren(body, 'owner')[0]?.source ?? '' }
}

function answer(exchange: Exchange, status: number, lock: Lock): void {
  const prop = dav('lockdiscovery', activeLock(lock))
  const body = `${xmlHead}<D:prop xmlns:D="DAV:">${prop}</D:prop>\n`
  exchange.endXml(status, body, { 'lock-token': `<${lock.token}>` })
}
