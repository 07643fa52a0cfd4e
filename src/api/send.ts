// Sends one attempt of a call: alone, or right behind a DELETE of the same target on the same connection.

import type { World } from '../world/world.ts'
import { acceptAny, drain, readError } from './answer-body.ts'
import { decoded } from './content-coding.ts'
import type { CallDescription } from './errors.ts'
import type { Answer, Transport, TransportRequest } from '../world/transport.ts'
import type { RequestRecord } from './types.ts'

/** The parts of a caller that sending needs. `onRequest` is called after every HTTP attempt. */
export interface SendContext {
  readonly transport: Transport
  readonly onRequest: ((record: RequestRecord) => void) | undefined
  readonly world: World
}

export interface Sent {
  readonly answer: Answer
  /** Error of the DELETE sent before it, if that failed. */
  readonly deleteError?: unknown
}

export type Send = (way: SendContext, key: string, request: TransportRequest) => Promise<Sent>

export const sendAlone: Send = async ({ transport }, _key, request) => ({
  answer: await transport.callService(request),
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
  const deleteError = first
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
  // Waits for both, so that `onRequest` records the DELETE before the call.
  await Promise.allSettled([deleteError, second])
  return { answer: await second, deleteError: await deleteError }
}

async function collected(body: TransportRequest['body']): Promise<Uint8Array> {
  if (body === undefined || typeof body === 'string') return Buffer.from(body ?? '')
  if (body instanceof Uint8Array) return body
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}
