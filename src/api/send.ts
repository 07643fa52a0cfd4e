// How one attempt goes out: alone, or right behind the DELETE of the same target, on its connection.

import type { World } from '../world/world.ts'
import { acceptAny, drain, readError } from './answer-body.ts'
import { decoded } from './content-coding.ts'
import type { CallDescription } from './errors.ts'
import type { Answer, Transport, TransportRequest } from '../world/transport.ts'
import type { RequestRecord } from './types.ts'

/** The way out for a request, and the listener told of it. */
export interface Way {
  readonly transport: Transport
  readonly onRequest: ((record: RequestRecord) => void) | undefined
  readonly world: World
}

export interface Sent {
  readonly answer: Answer
  /** How the DELETE before it failed, if it did. */
  readonly deleted?: unknown
}

export type Send = (way: Way, key: string, request: TransportRequest) => Promise<Sent>

export const sendAlone: Send = async ({ transport }, _key, request) => ({
  answer: await transport.api(request),
})

export const sendBehindDelete: Send = async ({ transport, onRequest, world: { clock } }, key, request) => {
  const startedAt = clock.monotonic()
  const call: CallDescription = { method: 'DELETE', path: request.call.path }
  const { body, ...bare } = request
  const { 'content-type': _type, 'content-length': _length, ...headers } = request.headers
  const content = await collected(body)
  const { first, second } = transport.together(
    { ...bare, call, method: 'DELETE', headers },
    { ...bare, body: content },
  )
  let status: number | undefined
  const deleted = first
    .then(async (answer) => {
      ;({ status } = answer)
      const isDone = status >= 200 && status < 300 && status !== 202
      if (!isDone && status !== 404) return await readError(call, decoded(call, answer), [key], clock.wall())
      await (isDone ? acceptAny(call, answer) : drain(answer))
      return undefined
    })
    .catch((error: unknown) => error)
    .finally(() => {
      const elapsedMs = clock.monotonic() - startedAt
      onRequest?.({ kind: 'api', ...call, status, attempt: 1, elapsedMs, bytes: undefined })
    })
  // Answered in the same order; what was answered first is told first.
  await Promise.allSettled([deleted, second])
  return { answer: await second, deleted: await deleted }
}

async function collected(body: TransportRequest['body']): Promise<Uint8Array> {
  if (body === undefined || typeof body === 'string') return Buffer.from(body ?? '')
  if (body instanceof Uint8Array) return body
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}
