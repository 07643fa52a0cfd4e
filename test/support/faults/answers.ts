// The body of an answer as a hook sees it: text, bytes or a stream.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export async function* chunksOf(payload: unknown): AsyncGenerator<Buffer> {
  if (payload instanceof Readable) {
    for await (const chunk of payload as AsyncIterable<Buffer | string>)
      yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  } else if (typeof payload === 'string') {
    yield Buffer.from(payload)
  } else if (Buffer.isBuffer(payload)) {
    yield payload
  }
}

export async function jsonOf(payload: unknown): Promise<object> {
  const chunks: Buffer[] = []
  for await (const chunk of chunksOf(payload)) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString()) as object
}

export function dropPayload(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy()
}

export function isSuccess(reply: FastifyReply): boolean {
  return reply.statusCode < 300
}
