// Parts shared by the client's tests: a client that closes itself, contents for uploads.

import { createClient } from '../../src/api/client.ts'
import type { Client, ClientOptions } from '../../src/api/client.ts'
import type { BytesContent, Upload } from '../../src/api/types.ts'
import type { RawServer } from '../support/raw-server.ts'

export const testKey = 'key-that-must-not-leak'

/** A client of a raw server, whose base URL is `ORIGIN/api`. */
export function clientOf(server: RawServer, options: Partial<ClientOptions> = {}): Client & AsyncDisposable {
  const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: testKey, ...options })
  return { ...client, [Symbol.asyncDispose]: () => client.close() }
}

/** Content in pieces of the given sizes, counting how often it was opened and whether the reading was ended. */
export function contentOf(pieces: readonly Uint8Array[], size = total(pieces)): BytesContent & ContentWatch {
  const watch = { opened: 0, ended: 0, given: 0 }
  return {
    kind: 'bytes',
    size,
    watch,
    async *open() {
      watch.opened++
      try {
        for (const piece of pieces) {
          watch.given += piece.length
          yield piece
        }
      } finally {
        watch.ended++
      }
    },
  }
}

export interface ContentWatch {
  readonly watch: { opened: number; ended: number; given: number }
}

export function uploadOf(content: Upload['content']): Upload {
  return { mimetype: 'text/plain', filename: 'a.txt', content }
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not reject')
}

function total(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}
