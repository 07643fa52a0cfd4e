// COPY: the service copies whole documents itself, without a download. Content that it does not have yet is copied on this
// machine. An existing document is replaced only by a complete copy.

import { extname } from 'node:path'

import { errnoOf } from '../../fs/errno-of.ts'
import { checkTransfer, removeDestination } from '../transfer.ts'
import type { Exchange } from '../exchange.ts'
import { pathOf } from '../names.ts'
import { Refused } from '../refused.ts'
import type { Failure } from '../remove.ts'
import { answerFailures } from '../answer-failures.ts'
import { unfinishedName, type Place, type Resource } from '../path-walk.ts'
import { isAtOrUnder } from '../../path.ts'

const pieceBytes = 1024 * 1024
const forReading = { read: true, write: false, truncate: false }

export async function copy(exchange: Exchange): Promise<void> {
  const { door, depth } = exchange
  if (depth === 1) throw new Refused(400, 'a copy has Depth 0 or infinity')
  const { source, place, names, before } = await checkTransfer(exchange, { leaves: false })
  const [fromPath, toPath] = [pathOf(source.names), pathOf(names)]
  // Empty documents that still wait for their content count as complete from now on.
  await door.pendingPuts.closeMatching((path) => isAtOrUnder(path, fromPath))
  const to = { ...place, name: names.at(-1) ?? '' }
  const bothDocuments = before?.attributes.kind === 'file' && source.attributes.kind === 'file'
  if (before !== undefined && !bothDocuments) await removeDestination(exchange, { source, before })
  if (bothDocuments) await door.pendingPuts.closeMatching((path) => path === toPath)
  let failures: readonly Failure[] = []
  if (bothDocuments) await copyDocument(exchange, source, to, temporaryPlaceFor(exchange, to))
  else failures = await copyTree(exchange, source, to, depth === 'infinity')
  await door.properties.remove(toPath)
  await door.properties.copy(fromPath, toPath)
  if (failures.length > 0) answerFailures(exchange, failures)
  else if (before !== undefined) exchange.end(204)
  else exchange.end(201, exchange.locationOf(names, source.attributes.kind === 'folder'))
}

async function copyTree(
  exchange: Exchange,
  source: Resource,
  to: Place,
  isDeep: boolean,
): Promise<readonly Failure[]> {
  const { walk } = exchange
  try {
    if (source.attributes.kind === 'file') {
      await copyDocument(exchange, source, to)
      return []
    }
    // Listed before the new folder is created, which may lie in the same folder.
    const children = isDeep ? await walk.children(source) : []
    const folder = to.parent.attributes.ino
    const made = await walk.operations.mkdir(folder, to.name, source.attributes.mode, walk.changeCaller)
    walk.holdNode(made.attributes.ino)
    const parent = { names: [...to.parent.names, to.name], attributes: made.attributes }
    const failures: Failure[] = []
    for (const child of children)
      failures.push(...(await copyTree(exchange, child, { parent, name: child.names.at(-1) ?? '' }, true)))
    return failures
  } catch (error) {
    return [{ resource: source, error }]
  }
}

/** Copies a document, under the name `first` until it is complete. A copy that fails is removed. */
async function copyDocument(
  { walk }: Exchange,
  source: Resource,
  to: Place,
  first: Place = to,
): Promise<void> {
  const { operations, changeCaller } = walk
  const { ino, mode } = source.attributes
  const { fh: from } = await operations.open(ino, forReading, changeCaller)
  try {
    const made = await walk.create(first, mode)
    try {
      const { attributes } = await operations.getattr(ino, from, changeCaller)
      await copyContent(walk, from, made.fh, attributes.size)
      if (first !== to) await rename(walk, first, to)
    } catch (error) {
      await walk.undoCreate(first, made)
      throw error
    }
    try {
      await operations.flush(made.fh, changeCaller)
    } finally {
      await operations.release(made.fh)
    }
  } finally {
    await operations.release(from)
  }
}

/**
 * Returns a place beside it with a temporary name that tells the same type: a name without a type would stay on this machine, and
 * the service could not make the copy.
 */
function temporaryPlaceFor({ door }: Exchange, { parent, name }: Place): Place {
  return { parent, name: unfinishedName(door.contentTypeOf(name) === undefined ? '' : extname(name)) }
}

async function rename({ operations, changeCaller }: Exchange['walk'], from: Place, to: Place): Promise<void> {
  const [folder, newFolder] = [from.parent.attributes.ino, to.parent.attributes.ino]
  const flags = { noReplace: false, exchange: false }
  await operations.rename(folder, from.name, newFolder, to.name, flags, changeCaller)
}

async function copyContent(
  { operations, changeCaller }: Exchange['walk'],
  from: number,
  to: number,
  size: number,
) {
  try {
    if (size > 0) await operations.copyFileRange(from, 0, to, 0, size, changeCaller)
    return
  } catch (error) {
    if (errnoOf(error) !== 'EOPNOTSUPP') throw error
  }
  for (let offset = 0; offset < size;) {
    const chunks = await operations.read(from, offset, pieceBytes, changeCaller)
    const piece = Buffer.concat(chunks)
    if (piece.length === 0) return
    for (let done = 0; done < piece.length;)
      done += await operations.write(to, offset + done, piece.subarray(done), changeCaller)
    offset += piece.length
  }
}
