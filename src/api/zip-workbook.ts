// An xlsx is a zip whose part [Content_Types].xml names a workbook. Where that part lies is told at the end of a zip only: many
// programs write it last.

import { inflateRawSync } from 'node:zlib'
import { bufferAt, type ReadableContent } from './readable-content.ts'

export const zipSignature: Uint8Array = Buffer.from('PK\x03\x04')

const endBytes = 22
const longestCommentBytes = 65_535
/** The directory of a workbook with twenty thousand parts. */
const mostDirectoryBytes = 4 * 1024 * 1024
/** The content types of as many, packed and unpacked. */
const mostPackedBytes = 1024 * 1024
const mostBytes = 8 * 1024 * 1024

/** Templates and workbooks with macros are other types. */
const mainPart = /application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet\.main\+xml/

/** True for a zip that is an Excel workbook; false where it is cut, or damaged where this is told. */
export async function isWorkbookZip(content: ReadableContent): Promise<boolean> {
  const entry = await findEntry(content, '[content_types].xml')
  return entry !== undefined && mainPart.test(await textOf(content, entry))
}

interface Entry {
  readonly method: number
  readonly packedBytes: number
  /** Of its own header. */
  readonly offset: number
}

/** `name`: in lower case. */
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

/** The central directory; empty where the end is missing. */
async function directoryOf(content: ReadableContent): Promise<Buffer> {
  const tailBytes = Math.min(content.size, endBytes + longestCommentBytes)
  const tail = await bufferAt(content, content.size - tailBytes, tailBytes)
  const end = tail.subarray(0, tailBytes - endBytes + 4).lastIndexOf('PK\x05\x06')
  if (end < 0) return Buffer.alloc(0)
  const length = Math.min(tail.readUInt32LE(end + 12), mostDirectoryBytes)
  return bufferAt(content, tail.readUInt32LE(end + 16), length)
}

/** Empty for what cannot be unpacked. */
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
