// Records of the service, packed: about 150 bytes for a document with its presigned URL, 800 as an object with its strings.
//
//   flags · name · size · modified_at · mimetype · URL        an absent field takes no space

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { ByteReader, GrowingBytes } from './growing-bytes.ts'
import { UrlPatterns } from './packed-url.ts'

type RemoteEntry = RemoteFile | RemoteFolder

/** Offset of the name in a record: behind the byte with the flags. */
export const nameOffset = 1

const flag = { folder: 1, size: 2, modifiedAt: 4, mimetype: 8, url: 16, urlAsText: 32 } as const
/** Flag of a name that was deleted. */
const deletedFlag = 128

export class PackedRecords {
  readonly #urls = new UrlPatterns()
  readonly #mimetypes: string[] = []

  /** Appends the record. */
  add(bytes: GrowingBytes, record: RemoteEntry): void {
    if (record.kind === 'folder') {
      bytes.addByte(flag.folder)
      bytes.addText(record.name)
      return
    }
    const { name, size, modifiedAt, mimetype, url } = record
    const packed = url === undefined ? undefined : this.#urls.pack(url)
    bytes.addByte(
      (size === undefined ? 0 : flag.size) |
        (modifiedAt === undefined ? 0 : flag.modifiedAt) |
        (mimetype === undefined ? 0 : flag.mimetype) |
        (url === undefined ? 0 : packed === undefined ? flag.urlAsText : flag.url),
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

  /** Reads the record that begins there. */
  read(from: ByteReader): RemoteEntry {
    const flags = from.byte()
    const name = from.text()
    if ((flags & flag.folder) !== 0) return { kind: 'folder', name }
    return {
      kind: 'file',
      name,
      size: (flags & flag.size) === 0 ? undefined : from.double(),
      modifiedAt: (flags & flag.modifiedAt) === 0 ? undefined : from.text(),
      mimetype: (flags & flag.mimetype) === 0 ? undefined : this.#mimetypes[from.count()],
      url:
        (flags & flag.url) !== 0 ? this.#url(from) : (flags & flag.urlAsText) === 0 ? undefined : from.text(),
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

/** True if the record that begins there is a folder's. */
export function isFolder(bytes: GrowingBytes, at: number): boolean {
  return (bytes.byteAt(at) & flag.folder) !== 0
}

/** True if the name of the record that begins there is deleted. */
export function isDeleted(bytes: GrowingBytes, at: number): boolean {
  return (bytes.byteAt(at) & deletedFlag) !== 0
}

/** Marks the name of the record that begins there as deleted. */
export function markDeleted(bytes: GrowingBytes, at: number): void {
  bytes.setByte(at, bytes.byteAt(at) | deletedFlag)
}
