// The service's mimetype for content whose name has no known extension: one rule for the drive and for `put`. Content that
// begins as a PDF is one. Other content without control characters is text, whatever it begins with; for the rest its full
// signature decides.

import { isMimetype, type Mimetype } from './mimetypes.ts'
import { isMp3, startOfAudio, tagSignature } from './mp3.ts'
import { isWorkbookOle, oleSignature } from './ole-workbook.ts'
import { bufferAt, contentOfBytes, type ReadableContent } from './readable-content.ts'
import { isWorkbookZip, zipSignature } from './zip-workbook.ts'

/** Bytes at the beginning of a content that are examined. */
export const headBytes: number = 64 * 1024

/**
 * Returns text/plain or application/xml for text, else the service's type by signature; undefined if the service has no such
 * type. Reads the first 64 KiB, and a few more pieces (less than 6 MiB) of a workbook or a tagged MP3.
 */
export async function mimetypeOfContent(content: ReadableContent): Promise<Mimetype | undefined> {
  const head = await bufferAt(content, 0, headBytes)
  if (/^(?:\xef\xbb\xbf)?%PDF-\d/.test(head.toString('latin1', 0, 16))) return 'application/pdf'
  const text = textOf(head)
  if (text !== undefined) return /^<\?xml\s/.test(text) ? 'application/xml' : 'text/plain'
  if (startsWith(head, zipSignature)) return (await isWorkbookZip(content)) ? workbook : undefined
  if (startsWith(head, oleSignature)) return (await isWorkbookOle(content)) ? formerWorkbook : undefined
  const audioAt = await startOfAudio(content)
  const rest = audioAt === 0 ? head : await bufferAt(content, audioAt, headBytes)
  if (isMp3(rest, content.size - audioAt)) return 'audio/mp3'
  return audioAt === 0 ? bySignature(head) : undefined
}

/**
 * Returns the mimetype of a content that is still being written, from its first bytes (up to 64 KiB): the type so far; undefined
 * if the service has no such type, however the content goes on; `undetermined` if its end decides (zip, OLE, tagged MP3), or if
 * `head` is all zeroes, as in a file that is not written in order.
 */
export async function mimetypeOfHead(head: Uint8Array): Promise<Mimetype | 'undetermined' | undefined> {
  const found = await mimetypeOfContent(contentOfBytes(head))
  if (found !== undefined) return found
  const isDecidedLater = [zipSignature, oleSignature, tagSignature].some((signature) =>
    startsWith(head, signature),
  )
  return isDecidedLater || head.every((byte) => byte === 0) ? 'undetermined' : undefined
}

const workbook = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const formerWorkbook = 'application/vnd.ms-excel'

function startsWith(head: Uint8Array, signature: Uint8Array): boolean {
  return Buffer.compare(head.subarray(0, signature.length), signature) === 0
}

const utf16 = new Map([
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
])

/**
 * Returns `head` as text: UTF-16 with a byte order mark, UTF-8, or an 8-bit encoding, of which only ASCII is decoded correctly.
 * Undefined if it contains control characters that are not used in text. One ^Z at the end is allowed: DOS wrote it.
 */
function textOf(head: Buffer): string | undefined {
  const encoding = utf16.get(head.toString('latin1', 0, 2))
  const text = encoding === undefined ? head.toString('latin1') : decoded(head, encoding)
  // eslint-disable-next-line no-control-regex
  if (text === undefined || /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]/.test(text.replace(/\x1a$/, '')))
    return undefined
  return text.replace(/^\xef\xbb\xbf/, '')
}

/** Decodes UTF-16, without the byte order mark and half a character at the end; undefined if it is invalid. */
function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** Returns the type of binary content, by the signatures of the package file-type. */
async function bySignature(head: Uint8Array): Promise<Mimetype | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  // The parser may fail at the end of the head: then the signature decided nothing.
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  // file-type takes eleven bits for an MP3, which is too few: `isMp3` has checked more.
  if (found === undefined || found.mime === 'audio/mpeg') return undefined
  const mimetype = otherSpellings[found.mime] ?? found.mime
  return isMimetype(mimetype) ? mimetype : undefined
}

/** Names that file-type gives to types of the service. */
const otherSpellings: Record<string, Mimetype> = {
  'audio/vnd.wave': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'image/apng': 'image/png',
  'video/x-m4v': 'video/mp4',
}
