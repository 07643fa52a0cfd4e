// Recognition of Excel workbooks (xlsx) among zips: the part [Content_Types].xml names a workbook. The position of that part is
// only known from the directory at the zip's end, and many programs write the part last.

import { inflateRawSync } from 'node:zlib'
import { bufferAt, type ReadableContent } from './readable-content.ts'

export const zipSignature: Uint8Array = Buffer.from('PK\x03\x04')

/** Offsets here and below: PKWARE's APPNOTE, 4.3.7 (header), 4.3.12 (directory), 4.3.16 (end). */
const endBytes = 22
const longestCommentBytes = 65_535
/** Limit of the directory, enough for a workbook with twenty thousand parts. */
const mostDirectoryBytes = 4 * 1024 * 1024
/** Limits of [Content_Types].xml, compressed and decompressed, for as many parts. */
const mostPackedBytes = 1024 * 1024
const mostBytes = 8 * 1024 * 1024

/** Content type of a workbook. Templates and workbooks with macros have others, and are refused. */
const mainPart = /application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet\.main\+xml/

/** True for a zip that is an Excel workbook; false if it is cut off, or damaged in the parts read here. */
export async function isWorkbookZip(content: ReadableContent): Promise<boolean> {
  const entry = await findEntry(content, '[content_types].xml')
  return entry !== undefined && mainPart.test(await textOf(content, entry))
}

interface Entry {
  readonly method: number
  readonly packedBytes: number
  /** Position of the entry's header in the zip, in bytes. */
  readonly offset: number
}

/** Returns the entry with this name; `name` is in lower case, and case is ignored. */
async function findEntry(content: ReadableContent, name: string): Promise<Entry | undefined> {
  const directory = await directoryOf(content)
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32BE(at) === 0x504b0102;) {
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28)
    if (directory.toString('latin1', at + 46, nameEnd).toLowerCase() === name) {
      return {
        method: directory.readUInt16LE(at + 10),
        packedBytes: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      }
    }
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return undefined
}

/** Returns the central directory; empty if the zip's end is missing. */
async function directoryOf(content: ReadableContent): Promise<Buffer> {
  const tailBytes = Math.min(content.size, endBytes + longestCommentBytes)
  const tail = await bufferAt(content, content.size - tailBytes, tailBytes)
  const end = tail.subarray(0, tailBytes - endBytes + 4).lastIndexOf('PK\x05\x06')
  if (end < 0) return Buffer.alloc(0)
  const length = Math.min(tail.readUInt32LE(end + 12), mostDirectoryBytes)
  return bufferAt(content, tail.readUInt32LE(end + 16), length)
}

/** Returns the entry's text; empty if it cannot be decompressed. */
async function textOf(content: ReadableContent, { method, packedBytes, offset }: Entry): Promise<string> {
  const header = await bufferAt(content, offset, 30)
  if (header.length < 30) return ''
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  const packed = await bufferAt(content, start, Math.min(packedBytes, mostPackedBytes))
  if (method === 0) return packed.toString()
  try {
    return inflateRawSync(packed, { maxOutputLength: mostBytes }).toString()
  } catch {
    return ''
  }
}
