// Records of the service in as few bytes as tell all of them: about a hundred and fifty for a document, its presigned URL included,
// where an object with its strings takes eight hundred.
//
//   what is told · name · size · modified_at · mimetype · URL        what is not told takes no room

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { ByteReader, GrowingBytes } from './growing-bytes.ts'
import { UrlPatterns } from './packed-url.ts'

type Told = RemoteFile | RemoteFolder

/** The name begins behind this byte. */
export const nameOffset = 1

const told = { folder: 1, size: 2, modifiedAt: 4, mimetype: 8, url: 16, urlAsText: 32 } as const
/** The name is not in the folder now. */
const away = 128

export class PackedRecords {
  readonly #urls = new UrlPatterns()
  readonly #mimetypes: string[] = []

  /** Appends the record. */
  add(bytes: GrowingBytes, record: Told): void {
    if (record.kind === 'folder') {
      bytes.addByte(told.folder)
      bytes.addText(record.name)
      return
    }
    const { name, size, modifiedAt, mimetype, url } = record
    const packed = url === undefined ? undefined : this.#urls.pack(url)
    bytes.addByte(
      (size === undefined ? 0 : told.size) |
        (modifiedAt === undefined ? 0 : told.modifiedAt) |
        (mimetype === undefined ? 0 : told.mimetype) |
        (url === undefined ? 0 : packed === undefined ? told.urlAsText : told.url),
    )
    bytes.addText(name)
    if (size !== undefined) bytes.addDouble(size)
    if (modifiedAt !== undefined) bytes.addText(modifiedAt)
    if (mimetype !== undefined) bytes.addCount(this.#mimetypeNumber(mimetype))
    if (packed !== undefined) {
      bytes.addByte(packed.pattern)
      for (const part of packed.own) bytes.addText(part)
    } else if (url !== undefined) bytes.addText(url)
  }

  /** The record that begins there. */
  read(from: ByteReader): Told {
    const flags = from.byte()
    const name = from.text()
    if ((flags & told.folder) !== 0) return { kind: 'folder', name }
    return {
      kind: 'file',
      name,
      size: (flags & told.size) === 0 ? undefined : from.double(),
      modifiedAt: (flags & told.modifiedAt) === 0 ? undefined : from.text(),
      mimetype: (flags & told.mimetype) === 0 ? undefined : this.#mimetypes[from.count()],
      url:
        (flags & told.url) !== 0 ? this.#url(from) : (flags & told.urlAsText) === 0 ? undefined : from.text(),
    }
  }

  #url(from: ByteReader): string {
    const pattern = from.byte()
    const own = Array.from({ length: this.#urls.ownCount(pattern) }, () => from.text())
    return this.#urls.unpack({ pattern, own })
  }

  #mimetypeNumber(mimetype: string): number {
    const known = this.#mimetypes.indexOf(mimetype)
    return known === -1 ? this.#mimetypes.push(mimetype) - 1 : known
  }
}

/** Of the record that begins there. */
export function isFolder(bytes: GrowingBytes, at: number): boolean {
  return (bytes.byteAt(at) & told.folder) !== 0
}

/** True if the name of the record that begins there is away. */
export function isAway(bytes: GrowingBytes, at: number): boolean {
  return (bytes.byteAt(at) & away) !== 0
}

/** The name of the record that begins there is away from now on. */
export function markAway(bytes: GrowingBytes, at: number): void {
  bytes.setByte(at, bytes.byteAt(at) | away)
}
