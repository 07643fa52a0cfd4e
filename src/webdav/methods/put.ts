// PUT: a document, saved as programs on the drive save. A new one is written where it will be; one that exists is replaced
// when the new content is whole, so that a broken connection costs nothing. It is answered when close-wait is satisfied.

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
  const where = found?.names ?? [...place.parent.names, place.name]
  await exchange.mayChange(
    { names: where, reach: 'one' },
    ...(found === undefined ? [{ names: place.parent.names, reach: 'one' as const }] : []),
  )
  checkConditions(request.headers, found?.attributes, false)

  const saved = await save(exchange, pathOf(where), place, found)
  exchange.end(found === undefined ? 201 : 204, {
    etag: entityTag(saved),
    ...(timeWished(exchange) === undefined ? {} : { 'x-oc-mtime': 'accepted' }),
    ...(found === undefined ? exchange.created(where, false) : {}),
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
    // Something else has its name by now.
    await exchange.walk.operations.release(begun.fh)
  }
  if (found === undefined) return makeOrReplace(exchange, path, place)
  if (exchange.header('content-length') === '0') return empty(exchange, path, found)
  return replace(exchange, place, found)
}

/** Another client may be first; who wants to be that (`If-None-Match: *`) is told so. */
async function makeOrReplace(exchange: Exchange, path: string, place: Place): Promise<Attributes> {
  try {
    return await make(exchange, path, place)
  } catch (error) {
    const isTaken = error instanceof ErrnoError && error.code === 'EEXIST'
    if (!isTaken || exchange.header('if-none-match') !== undefined) throw error
    const found = await exchange.walk.get([...place.parent.names, place.name])
    if (found.attributes.kind === 'folder') throw error
    return replace(exchange, place, found)
  }
}

/** A document that is new. Where its content does not arrive, it never was. */
async function make(exchange: Exchange, path: string, place: Place): Promise<Attributes> {
  const { walk } = exchange
  const opened = await walk.create(place, 0o644)
  try {
    await receive(exchange, opened)
  } catch (error) {
    await walk.undo(place, opened)
    throw error
  }
  return saved(exchange, path, opened)
}

/** A document that was begun a moment ago. Where its content does not arrive, it is as empty as before. */
async function fill(exchange: Exchange, path: string, place: Place, opened: Opened): Promise<Attributes> {
  const { walk, door } = exchange
  const { operations, lasting } = walk
  try {
    await receive(exchange, opened)
  } catch (error) {
    let isKept = false
    try {
      if (await walk.isAt(place, opened.ino)) {
        await operations.setattr(opened.ino, { size: 0 }, opened.fh, lasting)
        door.pendingPuts.keep(path, opened)
        isKept = true
      }
    } finally {
      if (!isKept) await operations.release(opened.fh)
    }
    throw error
  }
  return saved(exchange, path, opened)
}

/** The document becomes empty; its new content mostly follows. */
async function empty(exchange: Exchange, path: string, { attributes }: Resource): Promise<Attributes> {
  const { operations, lasting } = exchange.walk
  const flags = { read: true, write: true, truncate: true }
  const { fh } = await operations.open(attributes.ino, flags, lasting)
  return saved(exchange, path, { ino: attributes.ino, fh })
}

/** Beside it first, then in its place, as an editor saves. */
async function replace(
  exchange: Exchange,
  { parent }: Place,
  { names, attributes }: Resource,
): Promise<Attributes> {
  const { walk } = exchange
  const { operations, lasting } = walk
  const folder = parent.attributes.ino
  const beside = unfinishedName()
  const opened = await walk.create({ parent, name: beside }, attributes.mode)
  let isMoved = false
  try {
    try {
      await receive(exchange, opened)
      await stamp(exchange, opened)
      await operations.flush(opened.fh, lasting)
    } finally {
      await operations.release(opened.fh)
    }
    await checkAgain(exchange, names)
    const how = { noReplace: false, exchange: false }
    await operations.rename(folder, beside, folder, names.at(-1) ?? '', how, lasting)
    isMoved = true
  } finally {
    if (!isMoved) await forgetBeside(exchange, folder, beside)
  }
  return (await operations.getattr(opened.ino, undefined, lasting)).attributes
}

/** While the content came, another client may have saved or locked the document. */
async function checkAgain(exchange: Exchange, names: readonly string[]): Promise<void> {
  const { walk, request } = exchange
  exchange.mayStillChange({ names, reach: 'one' })
  checkConditions(request.headers, (await walk.find(names))?.attributes, false)
}

/** Of a save that was refused after it was made nothing is left beside the document. */
async function forgetBeside({ walk }: Exchange, folder: number, beside: string): Promise<void> {
  const { operations, lasting } = walk
  const { attributes } = await operations.lookup(folder, beside, lasting)
  if (attributes === undefined) return
  walk.hold(attributes.ino)
  await operations.unlink(folder, beside, lasting)
}

/** Writes the body from the start. Throws, with the handle still open, when it does not come to its end. */
async function receive(exchange: Exchange, { fh }: Opened): Promise<void> {
  const { operations, lasting } = exchange.walk
  let offset = 0
  for await (const chunk of exchange.body()) {
    for (let done = 0; done < chunk.length;) {
      const written = await operations.write(fh, offset, chunk.subarray(done), lasting)
      done += written
      offset += written
    }
  }
}

/** Closes a document that has content. One that is empty is journaled, and kept open for what may follow. */
async function saved(exchange: Exchange, path: string, { ino, fh }: Opened): Promise<Attributes> {
  const { operations, lasting } = exchange.walk
  let isKept = false
  try {
    await stamp(exchange, { ino, fh })
    await operations.flush(fh, lasting)
    const { attributes } = await operations.getattr(ino, fh, lasting)
    if (attributes.size === 0) {
      exchange.door.pendingPuts.keep(path, { ino, fh })
      isKept = true
    }
    return attributes
  } finally {
    if (!isKept) await operations.release(fh)
  }
}

/** Gives the document the modification time that the client wishes it to have. */
async function stamp(exchange: Exchange, { ino, fh }: Opened): Promise<void> {
  const sec = timeWished(exchange)
  const { operations, lasting } = exchange.walk
  if (sec !== undefined) await operations.setattr(ino, { mtime: { sec, nsec: 0 } }, fh, lasting)
}

/** Seconds since 1970, in a header of ownCloud's that rclone and others send. */
function timeWished(exchange: Exchange): number | undefined {
  const text = exchange.header('x-oc-mtime')
  return text !== undefined && /^\d{1,12}(\.\d+)?$/.test(text) ? Math.floor(Number(text)) : undefined
}
