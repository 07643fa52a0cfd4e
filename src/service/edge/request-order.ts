// Requests that come together on one connection are carried out one after the other, as HTTP asks of a server (RFC 9112, 9.3.2):
// a client may send the DELETE of a document and the PUT of the next version at once. Node hands them over all at once, and
// stops reading only where answers wait to be sent: what waits for its turn has none yet, so their number is limited here.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Limits, exceeds } from '../limits.ts'

interface Turns {
  newest: { readonly raw: IncomingMessage; readonly reply: FastifyReply }
  /** The answer to what came last. */
  last: Promise<void>
  /** Requests that are not answered, the one under way included. */
  count: number
  /** The connection ends with the last of its answers. */
  isEnding: boolean
}

const turns = new WeakMap<Socket, Turns>()

/**
 * Call when the bytes that came last on the socket are no request. True where the socket is taken care of: it ends
 * with the last of the answers that are under way, or has ended. False where the caller is to answer.
 */
export function endAfterAnswers(socket: Socket): boolean {
  const mine = turns.get(socket)
  if (mine === undefined) return false
  if (mine.newest.raw.complete) {
    if (!mine.isEnding) void mine.last.then(() => socket.destroySoon())
    mine.isEnding = true
    return true
  }
  // The body of the newest will not come: neither will its answer.
  if (mine.count === 1 && !mine.newest.reply.raw.headersSent) return false
  socket.destroy()
  return true
}

/**
 * A connection on which too many requests wait is cut: an answer would have to wait behind them. A request to which no answer
 * can be sent is not carried out.
 */
export function keepOrder(app: FastifyInstance, { requestsPerConnection }: Limits): void {
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const before = turns.get(socket)
    const newest = { raw: request.raw, reply }
    const mine = before ?? { newest, last: Promise.resolve(), count: 0, isEnding: false }
    const { last } = mine
    mine.last = new Promise((resolve) => void reply.raw.once('close', resolve))
    mine.newest = newest
    mine.count++
    turns.set(socket, mine)
    void mine.last.then(() => {
      if (--mine.count === 0) turns.delete(socket)
    })
    if (before !== undefined) {
      if (exceeds(mine.count, requestsPerConnection)) socket.destroy()
      await last
    }
    // Its client can no longer hear the answer: the request ends here.
    if (!socket.writable) reply.hijack()
  })
}
