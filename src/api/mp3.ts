// Recognition of MP3, which has no signature: two frames in a row, the second exactly where the first ends.

import { bufferAt, type ReadableContent } from './readable-content.ts'

/** First bytes of an ID3v2 tag. A text may begin with them, too. */
export const tagSignature: Uint8Array = Buffer.from('ID3')

/** Returns the offset of the audio, in bytes: the end of the ID3v2 tags (up to eight); 0 if there is none. */
export async function startOfAudio(content: ReadableContent): Promise<number> {
  let at = 0
  for (let tags = 0; tags < 8; tags++) {
    const length = tagBytes(await bufferAt(content, at, 10))
    if (length === 0) break
    at += length
  }
  return at
}

/** Returns the length in bytes of the ID3v2 tag with this header; 0 if it is none. Its size field has four times seven bits. */
function tagBytes(header: Buffer): number {
  const [version = 0, revision = 0] = header.subarray(3)
  const sizes = header.subarray(6)
  const isTag = header.length === 10 && header.indexOf(tagSignature) === 0
  if (!isTag || version < 2 || version > 4 || revision === 0xff || sizes.some((seven) => seven > 0x7f))
    return 0
  const size = sizes.reduce((length, seven) => length * 128 + seven, 0)
  const hasFooter = (header.readUInt8(5) & 0x10) !== 0
  return 10 + size + (hasFooter ? 10 : 0)
}

/** True if `bytes` begin with two MP3 frames, or with one that fills `size`, the whole content. Zeroes before them are padding. */
export function isMp3(bytes: Buffer, size: number): boolean {
  const start = bytes.findIndex((byte) => byte !== 0)
  const first = frameAt(bytes, start)
  if (first === undefined) return false
  const next = start + first.length
  if (next === size) return true
  const second = frameAt(bytes, next)
  return second?.kind === first.kind
}

interface Frame {
  /** Bytes, with its header. */
  readonly length: number
  /** Header bits that all frames of a file share: version, layer, sample rate. */
  readonly kind: number
}

/** kbit/s of layer III, by the version (MPEG 1; MPEG 2 and 2.5) and the index in the header. */
const bitRates = {
  first: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  later: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const sampleRates = [44_100, 48_000, 32_000]

/** Returns the layer III frame whose four-byte header is at `at`; undefined if there is none. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at < 0 || at + 4 > bytes.length) return undefined
  const header = bytes.readUInt32BE(at)
  const version = (header >>> 19) & 3 // 0 is MPEG 2.5, 2 is MPEG 2, 3 is MPEG 1
  const isLayer3 = ((header >>> 17) & 3) === 1
  const isFirst = version === 3
  const rate = bitRates[isFirst ? 'first' : 'later'][((header >>> 12) & 15) - 1]
  const samples = sampleRates[(header >>> 10) & 3]
  if (header >>> 21 !== 0x7ff || version === 1 || !isLayer3 || rate === undefined || samples === undefined)
    return undefined
  const perSecond = samples / (isFirst ? 1 : version === 2 ? 2 : 4)
  const padding = (header >>> 9) & 1
  return {
    length: Math.floor(((isFirst ? 144_000 : 72_000) * rate) / perSecond) + padding,
    kind: header & 0xfffe0c00,
  }
}
