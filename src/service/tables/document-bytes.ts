// Loads the stored documents of a run, and finds out the row format of each.

import { buffer } from 'node:stream/consumers'
import { DamagedContentError, checked, damagedDocument } from '../blobs/intact.ts'
import { RowsError } from '../../rows/row.ts'
import { rowFormatOfMimetype, rowFormatOfName } from '../../rows/row-format.ts'
import type { ServiceContext } from '../context.ts'
import { ServiceError } from '../service-error.ts'
import type { DocumentRow } from './database.ts'
import type { DocumentBytes } from './matching-task.ts'

/** Bytes of all documents of one run together. */
const maxBytes = 64 * 1024 * 1024

/**
 * Throws RowsError, with the document's name, for one that has no row format or no stored content, ServiceError 413 above 64 MB.
 */
export async function loadDocuments(
  context: ServiceContext,
  documents: readonly DocumentRow[],
): Promise<DocumentBytes[]> {
  if (documents.reduce((sum, { size }) => sum + size, 0) > maxBytes)
    throw new ServiceError(413, 'the documents of one run may have 64 MB: split them')
  const loaded: DocumentBytes[] = []
  for (const document of documents) loaded.push(await loadDocument(context, document))
  return loaded
}

async function loadDocument(context: ServiceContext, document: DocumentRow): Promise<DocumentBytes> {
  const { filename, mimetype, size, blob } = document
  // Editors and old clients send row files as text/plain: then the name decides.
  const format =
    rowFormatOfMimetype(mimetype) ?? (mimetype === 'text/plain' ? rowFormatOfName(filename) : undefined)
  if (format === undefined)
    throw new RowsError(`${filename} is ${mimetype}: only CSV, JSON and XLSX are read into rows`)
  if (blob === null)
    throw new RowsError(`${filename} was stored with zero retention: its content is not kept`)
  try {
    const content = size === 0 ? Buffer.alloc(0) : await context.blobs.load(blob, 0, size - 1)
    if (content === undefined) throw damagedDocument(filename)
    const whole = checked(content, blob)
    return { name: filename, format, bytes: Buffer.isBuffer(whole) ? whole : await buffer(whole) }
  } catch (error) {
    throw error instanceof DamagedContentError ? damagedDocument(filename, error) : error
  }
}
