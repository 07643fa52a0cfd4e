// The stored form of a `multipart` upload: one MIME entity (RFC 2045, 2046, 2387), which mail programs and MIME libraries can
// open. It begins with its own header; programs that know the type from elsewhere take that for the preamble.
//
//   MIME-Version: 1.0
//   Content-Type: multipart/related; boundary="…"
//
//   --…   each part in order: `text` as text/plain in UTF-8, then `file` in base64 with its own type
//   --…--

import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlobWriter } from '../blobs/backend.ts'

/** A part to be written: text, or bytes with their type. */
export type StoredPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly mimetype: string; readonly content: Readable }

/** Bytes in a base64 line of 76 characters. */
const lineBytes = 57

export async function writeMultipart(parts: AsyncIterable<StoredPart>, writer: BlobWriter): Promise<void> {
  const boundary = `part-${randomUUID()}`
  const write = (text: string): Promise<void> => writer.write(Buffer.from(text))
  await write(`MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="${boundary}"\r\n`)
  for await (const part of parts) {
    if (part.kind === 'text') {
      await write(
        `\r\n--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`,
      )
      await write(part.text)
    } else {
      await write(
        `\r\n--${boundary}\r\nContent-Type: ${part.mimetype}\r\nContent-Transfer-Encoding: base64\r\n\r\n`,
      )
      await writeBase64(part.content, writer)
    }
  }
  await write(`\r\n--${boundary}--\r\n`)
}

async function writeBase64(content: Readable, writer: BlobWriter): Promise<void> {
  let carry: Buffer = Buffer.alloc(0)
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const bytes = carry.byteLength === 0 ? chunk : Buffer.concat([carry, chunk])
    const whole = bytes.byteLength - (bytes.byteLength % lineBytes)
    if (whole > 0) await writer.write(Buffer.from(linesOf(bytes.subarray(0, whole))))
    carry = bytes.subarray(whole)
  }
  if (carry.byteLength > 0) await writer.write(Buffer.from(linesOf(carry)))
}

function linesOf(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll(/.{1,76}/g, '$&\r\n')
}
