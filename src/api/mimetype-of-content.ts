// Which of the service's mimetypes a content goes under whose name tells none: the one rule of the drive and of `put`. Text is
// text, whatever it begins with; everything else is what its whole signature says.

import { isMimetype, type Mimetype } from './mimetypes.ts'
import { isMp3, startOfAudio, tagSignature } from './mp3.ts'
import { isWorkbookOle, oleSignature } from './ole-workbook.ts'
import { bufferAt, contentOfBytes, type ReadableContent } from './readable-content.ts'
import { isWorkbookZip, zipSignature } from './zip-workbook.ts'

/** So much of the beginning is looked at (bytes). */
export const headBytes: number = 64 * 1024

/**
 * The mimetype of a content: text/plain or application/xml for text, else the type of the service that it is by its signature;
 * undefined where it is none. Reads the first 64 KiB, and of a workbook or a tagged MP3 a few pieces more (under 6 MiB).
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
 * The same of a content that is still being written, from its beginning alone (64 KiB tell, or less where that is all): the
 * mimetype that it has so far; undefined for one that is none, however it goes on; `undetermined` where its end decides (zip,
 * OLE, tagged MP3), or where it begins with nothing but zeroes, as what is not written in order does.
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
 * The text that the beginning of a content is: UTF-16 with its byte order mark, UTF-8, or any 8-bit encoding, of which only the
 * ASCII part is right; undefined for bytes with control characters that no text holds. DOS ended its texts with one ^Z.
 */
function textOf(head: Buffer): string | undefined {
  const encoding = utf16.get(head.toString('latin1', 0, 2))
  const text = encoding === undefined ? head.toString('latin1') : decoded(head, encoding)
  // eslint-disable-next-line no-control-regex
  if (text === undefined || /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]/.test(text.replace(/\x1a$/, '')))
    return undefined
  return text.replace(/^\xef\xbb\xbf/, '')
}

/** Without its byte order mark, and without half a character at the end. */
function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** The type of bytes that are no text, by the signatures of file-type. */
async function bySignature(head: Uint8Array): Promise<Mimetype | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  // A head that is cut short may end inside what the parser reads: then its signature told nothing.
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  // One frame of an MP3 is eleven bits, and no signature: `isMp3` asks for more.
  if (found === undefined || found.mime === 'audio/mpeg') return undefined
  const mimetype = otherSpellings[found.mime] ?? found.mime
  return isMimetype(mimetype) ? mimetype : undefined
}

/** Other names of the types that the service takes. */
const otherSpellings: Record<string, Mimetype> = {
  'audio/vnd.wave': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'image/apng': 'image/png',
  'video/x-m4v': 'video/mp4',
}
