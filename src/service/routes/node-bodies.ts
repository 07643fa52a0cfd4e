// Responses with files and folders. A large folder is sent page by page, so that it takes little memory and does not block the
// event loop.

import { Readable } from 'node:stream'
import type { ServiceContext } from '../context.ts'
import type { FileBody, FolderEntryBody } from '../schemas.ts'
import type { NodeRow } from '../store/database.ts'
import { type ChildRow, listChildren } from '../store/nodes.ts'

/** Rows read, signed and written at once: about 10 ms. A folder that fits is one text; a larger one goes on in shorter turns. */
const firstRows = 1000
const pageRows = 200

export function fileBody(
  context: ServiceContext,
  origin: string,
  node: ChildRow,
  now: number = context.now(),
): FileBody {
  return {
    ftype: 'file',
    name: node.name,
    size: node.size ?? 0,
    mimetype: node.mimetype ?? '',
    modified_at: new Date(node.modified_at).toISOString(),
    url: context.signer.sign(origin, node.id, now),
  }
}

/** The JSON of a Folder: text where it fits one page, else a stream. */
export async function folderBody(
  context: ServiceContext,
  origin: string,
  folder: NodeRow,
): Promise<string | Readable> {
  const head = `{"ftype":"folder","name":${JSON.stringify(folder.name)},"entries":[`
  const now = context.now()
  const entriesOf = (rows: readonly ChildRow[]): string =>
    rows.map((row) => JSON.stringify(entryBody(context, origin, row, now))).join(',')
  const first = await listChildren(context.store, folder.id, '', firstRows)
  if (first.length < firstRows) return `${head}${entriesOf(first)}]}`
  return Readable.from(pages())

  async function* pages(): AsyncGenerator<Buffer> {
    yield Buffer.from(head + entriesOf(first))
    for await (const page of followingPages(context, folder, first)) yield Buffer.from(`,${entriesOf(page)}`)
    yield Buffer.from(']}')
  }
}

/** Returns the entry of `node` in the response of its folder. */
export function entryBody(
  context: ServiceContext,
  origin: string,
  node: ChildRow,
  now: number,
): FileBody | FolderEntryBody {
  return node.kind === 'file' ? fileBody(context, origin, node, now) : { ftype: 'folder', name: node.name }
}

async function* followingPages(
  context: ServiceContext,
  folder: NodeRow,
  first: readonly ChildRow[],
): AsyncGenerator<ChildRow[]> {
  let page = first
  while (page.length === (page === first ? firstRows : pageRows)) {
    // The store answers at once: without this turn other requests would wait for the whole folder.
    await new Promise((resolve) => setImmediate(resolve))
    const next = await listChildren(context.store, folder.id, page.at(-1)!.name, pageRows)
    if (next.length > 0) yield next
    page = next
  }
}
