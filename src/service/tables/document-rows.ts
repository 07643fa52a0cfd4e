// A stored document read into rows. Knows which documents are rows; the formats themselves are in `src/rows/`.

import { buffer } from 'node:stream/consumers'
import { RowsError } from '../../rows/row.ts'
import { parseRows, rowFormatOfMimetype, rowFormatOfName } from '../../rows/rows.ts'
import type { ServiceContext } from '../context.ts'
import type { RowsFile } from '../reconcile/reconcile.ts'
import type { DocumentRow } from './database.ts'

/** Larger documents are not read: rows of this size belong into several runs. */
const maxBytes = 64 * 1024 * 1024

/** Throws RowsError, with the document's name, where there are no rows to be had. */
export async function readDocumentRows(context: ServiceContext, document: DocumentRow): Promise<RowsFile> {
  const { filename, mimetype, size, blob } = document
  // Word processors and old clients send rows under a general type: then the name decides.
  const format =
    rowFormatOfMimetype(mimetype) ?? (mimetype === 'text/plain' ? rowFormatOfName(filename) : undefined)
  if (format === undefined)
    throw new RowsError(`${filename} is ${mimetype}: only CSV, JSON and XLSX are read into rows`)
  if (blob === null)
    throw new RowsError(`${filename} was stored with zero retention: its content is not kept`)
  if (size > maxBytes) throw new RowsError(`${filename} is larger than 64 MB: split it`)
  const content = size === 0 ? Buffer.alloc(0) : await context.blobs.load(blob, 0, size - 1)
  if (content === undefined) throw new Error(`the content of document ${document.id} is gone`)
  const bytes = Buffer.isBuffer(content) ? content : await buffer(content)
  try {
    return { name: filename, rows: parseRows(bytes, format) }
  } catch (error) {
    if (error instanceof RowsError) throw new RowsError(`${filename}: ${error.message}`, { cause: error })
    throw error
  }
}
