// GET and HEAD: a document, or a range of it.

import type { Attributes } from '../../fs/operations.ts'
import { checkConditions, isRangeValid } from '../conditions.ts'
import { entityTag, httpDate } from '../entity-tag.ts'
import type { Exchange } from '../exchange.ts'
import { anyType } from '../live-properties.ts'
import { Refused } from '../refused.ts'
import type { Resource } from '../path-walk.ts'

const pieceBytes = 1024 * 1024
const forReading = { read: true, write: false, truncate: false }

interface Range {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

export async function get(exchange: Exchange): Promise<void> {
  const { walk, request } = exchange
  const resource = await walk.get(exchange.names)
  // A read changes no resource: only the `If` header is checked.
  await exchange.checkLocks()
  if (resource.attributes.kind === 'folder') return sendFolderText(exchange)
  checkConditions(request.headers, resource.attributes, true)
  const { operations, caller } = walk
  if (request.method === 'HEAD') {
    // Ranges are for GET alone (RFC 9110, section 14.2).
    writeHead(exchange, resource, { range: undefined, hasSize: true })
    exchange.response.end()
    return
  }
  // `directIo`: the size is unknown until the content is read.
  const { fh, directIo } = await operations.open(resource.attributes.ino, forReading, caller)
  try {
    const { attributes } = await operations.getattr(resource.attributes.ino, fh, caller)
    const range = directIo ? undefined : rangeOf(exchange, attributes)
    writeHead(exchange, { ...resource, attributes }, { range, hasSize: !directIo })
    await send(exchange, fh, range ?? { start: 0, end: directIo ? Infinity : attributes.size })
    exchange.response.end()
  } finally {
    await operations.release(fh)
  }
}

/** Writes status and headers. A size that is unknown before reading is left out: the answer is then sent in chunks. */
function writeHead(
  exchange: Exchange,
  { names, attributes }: Resource,
  { range, hasSize }: { range: Range | undefined; hasSize: boolean },
): void {
  const { size, mtime } = attributes
  const length = range === undefined ? size : range.end - range.start
  exchange.response.writeHead(range === undefined ? 200 : 206, {
    'content-type': exchange.door.contentTypeOf(names.at(-1) ?? '') ?? anyType,
    'last-modified': httpDate(mtime),
    etag: entityTag(attributes),
    'accept-ranges': hasSize ? 'bytes' : 'none',
    ...(hasSize ? { 'content-length': String(length) } : {}),
    ...(range === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` }),
  })
}

/** Sends the range; the next piece is read while the client receives this one. */
async function send(exchange: Exchange, fh: number, { start, end }: Range): Promise<void> {
  const { operations, caller } = exchange.walk
  const read = async (offset: number): Promise<Buffer> => {
    const wanted = Math.min(pieceBytes, end - offset)
    // Copied at once: the chunks belong to the filesystem, and are valid until the next tick.
    return wanted <= 0 ? Buffer.alloc(0) : Buffer.concat(await operations.read(fh, offset, wanted, caller))
  }
  let offset = start
  let piece = await read(offset)
  while (piece.length > 0) {
    offset += piece.length
    const next = read(offset)
    // Its error is thrown below, by `await next`.
    next.catch(() => {})
    await exchange.write(piece)
    piece = await next
  }
  if (end !== Infinity && offset < end) throw new Refused(500, 'the document became shorter')
}

/** Returns the range of the request (RFC 9110, section 14.2); undefined for none, or several. Throws Refused (416). */
function rangeOf(exchange: Exchange, attributes: Attributes): Range | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(exchange.header('range')?.trim() ?? '')
  if (found === null || !isRangeValid(exchange.header('if-range'), attributes)) return undefined
  const { size } = attributes
  const [, from = '', to = ''] = found
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  if (start >= size || start >= end) {
    const headers = { 'content-range': `bytes */${size}` }
    throw new Refused(416, 'the document has no such range', { headers })
  }
  return { start, end }
}

function sendFolderText(exchange: Exchange): void {
  const body = Buffer.from(
    'A folder of documents. Open this address with a file manager, as a WebDAV drive.\n',
  )
  exchange.response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(body.length),
  })
  exchange.response.end(exchange.request.method === 'GET' ? body : undefined)
}
