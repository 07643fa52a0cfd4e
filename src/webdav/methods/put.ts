// PUT: saves a document. A new one is written at its name; an existing one is replaced only when the new content is complete, so
// that a broken connection loses nothing. It is answered when the close is (`--close-wait`).

import { ErrnoError } from '../../errno-error.ts'
import type { Attributes } from '../../fs/operations.ts'
import { checkConditions } from '../conditions.ts'
import { entityTag } from '../entity-tag.ts'
import type { Exchange } from '../exchange.ts'
import { pathOf } from '../names.ts'
import { Refused } from '../refused.ts'
import { unfinishedName, type Opened, type Place, type Resource } from '../path-walk.ts'

export async function put(exchange: Exchange): Promise<void> {
  const { walk, names, request } = exchange
  if (exchange.header('content-range') !== undefined)
    throw new Refused(400, 'a document is sent whole: PUT with Content-Range is not done here')
  if (!/^(identity)?$/i.test(exchange.header('content-encoding')?.trim() ?? ''))
    throw new Refused(415, 'a document is sent as it is: PUT with Content-Encoding is not done here')
  const found = await walk.find(names)
  if (found?.attributes.kind === 'folder') throw new Refused(405, 'this is a folder')
  const place = await walk.placeOf(names)
  // The drive's spelling, which may be another Unicode form than the client's.
  const where = found?.names ?? [...place.parent.names, place.name]
  await exchange.checkLocks(
    { names: where, reach: 'one' },
    ...(found === undefined ? [{ names: place.parent.names, reach: 'one' as const }] : []),
  )
  checkConditions(request.headers, found?.attributes, false)

  const saved = await save(exchange, pathOf(where), place, found)
  exchange.end(found === undefined ? 201 : 204, {
    etag: entityTag(saved),
    ...(requestedTime(exchange) === undefined ? {} : { 'x-oc-mtime': 'accepted' }),
    ...(found === undefined ? exchange.locationOf(where, false) : {}),
  })
}

async function save(
  exchange: Exchange,
  path: string,
  place: Place,
  found: Resource | undefined,
): Promise<Attributes> {
  const begun = exchange.door.pendingPuts.take(path)
  if (begun !== undefined) {
    if (begun.ino === found?.attributes.ino)
      return fill(exchange, path, { ...place, name: found.names.at(-1) ?? '' }, begun)
    // The name belongs to another document by now.
    await exchange.walk.operations.release(begun.fh)
  }
  if (found === undefined) return makeOrReplace(exchange, path, place)
  if (exchange.header('content-length') === '0') return truncate(exchange, path, found)
  return replace(exchange, place, found)
}

/** Creates, or replaces a document that another client has just created; except with `If-None-Match: *`, which forbids it. */
async function makeOrReplace(exchange: Exchange, path: string, place: Place): Promise<Attributes> {
  try {
    return await createDocument(exchange, path, place)
  } catch (error) {
    const isTaken = error instanceof ErrnoError && error.code === 'EEXIST'
    if (!isTaken || exchange.header('if-none-match') !== undefined) throw error
    const found = await exchange.walk.get([...place.parent.names, place.name])
    if (found.attributes.kind === 'folder') throw error
    return replace(exchange, place, found)
  }
}

/** Creates a document. Undone if its content does not arrive. */
async function createDocument(exchange: Exchange, path: string, place: Place): Promise<Attributes> {
  const { walk } = exchange
  const opened = await walk.create(place, 0o644)
  try {
    await receive(exchange, opened)
  } catch (error) {
    await walk.undoCreate(place, opened)
    throw error
  }
  return finish(exchange, path, opened)
}

/** Fills an open, empty document (pending-puts.ts). It is empty again if its content does not arrive. */
async function fill(exchange: Exchange, path: string, place: Place, opened: Opened): Promise<Attributes> {
  const { walk, door } = exchange
  const { operations, changeCaller } = walk
  try {
    await receive(exchange, opened)
  } catch (error) {
    let isKept = false
    try {
      if (await walk.isAt(place, opened.ino)) {
        await operations.setattr(opened.ino, { size: 0 }, opened.fh, changeCaller)
        door.pendingPuts.keep(path, opened)
        isKept = true
      }
    } finally {
      if (!isKept) await operations.release(opened.fh)
    }
    throw error
  }
  return finish(exchange, path, opened)
}

/** Empties a document and keeps it open: mostly its new content follows. */
async function truncate(exchange: Exchange, path: string, { attributes }: Resource): Promise<Attributes> {
  const { operations, changeCaller } = exchange.walk
  const flags = { read: true, write: true, truncate: true }
  const { fh } = await operations.open(attributes.ino, flags, changeCaller)
  return finish(exchange, path, { ino: attributes.ino, fh })
}

/** Writes a new document beside it, then renames that over it, as editors save. */
async function replace(
  exchange: Exchange,
  { parent }: Place,
  { names, attributes }: Resource,
): Promise<Attributes> {
  const { walk } = exchange
  const { operations, changeCaller } = walk
  const folder = parent.attributes.ino
  const beside = unfinishedName()
  const opened = await walk.create({ parent, name: beside }, attributes.mode)
  let isMoved = false
  try {
    try {
      await receive(exchange, opened)
      await stamp(exchange, opened)
      await operations.flush(opened.fh, changeCaller)
    } finally {
      await operations.release(opened.fh)
    }
    await checkAgain(exchange, names)
    const flags = { noReplace: false, exchange: false }
    await operations.rename(folder, beside, folder, names.at(-1) ?? '', flags, changeCaller)
    isMoved = true
  } finally {
    if (!isMoved) await removeBeside(exchange, folder, beside)
  }
  return (await operations.getattr(opened.ino, undefined, changeCaller)).attributes
}

/** Repeats the checks: while the content came, another client may have saved or locked the document. */
async function checkAgain(exchange: Exchange, names: readonly string[]): Promise<void> {
  const { walk, request } = exchange
  exchange.checkLocksAgain({ names, reach: 'one' })
  checkConditions(request.headers, (await walk.find(names))?.attributes, false)
}

/** Removes the new document beside the old one after a failure. */
async function removeBeside({ walk }: Exchange, folder: number, beside: string): Promise<void> {
  const { operations, changeCaller } = walk
  const { attributes } = await operations.lookup(folder, beside, changeCaller)
  if (attributes === undefined) return
  walk.holdNode(attributes.ino)
  await operations.unlink(folder, beside, changeCaller)
}

/** Writes the body from offset 0. Throws if it does not arrive whole; the handle stays open. */
async function receive(exchange: Exchange, { fh }: Opened): Promise<void> {
  const { operations, changeCaller } = exchange.walk
  let offset = 0
  for await (const chunk of exchange.body()) {
    for (let done = 0; done < chunk.length;) {
      const written = await operations.write(fh, offset, chunk.subarray(done), changeCaller)
      done += written
      offset += written
    }
  }
}

/** Saves and closes a document; an empty one stays open, for the PUT that may follow. */
async function finish(exchange: Exchange, path: string, { ino, fh }: Opened): Promise<Attributes> {
  const { operations, changeCaller } = exchange.walk
  let isKept = false
  try {
    await stamp(exchange, { ino, fh })
    await operations.flush(fh, changeCaller)
    const { attributes } = await operations.getattr(ino, fh, changeCaller)
    if (attributes.size === 0) {
      exchange.door.pendingPuts.keep(path, { ino, fh })
      isKept = true
    }
    return attributes
  } finally {
    if (!isKept) await operations.release(fh)
  }
}

/** Sets the modification time that the client requests. */
async function stamp(exchange: Exchange, { ino, fh }: Opened): Promise<void> {
  const sec = requestedTime(exchange)
  const { operations, changeCaller } = exchange.walk
  if (sec !== undefined) await operations.setattr(ino, { mtime: { sec, nsec: 0 } }, fh, changeCaller)
}

/** Returns seconds since 1970 from X-OC-Mtime, a header of ownCloud that rclone and others send. */
function requestedTime(exchange: Exchange): number | undefined {
  const text = exchange.header('x-oc-mtime')
  return text !== undefined && /^\d{1,12}(\.\d+)?$/.test(text) ? Math.floor(Number(text)) : undefined
}
