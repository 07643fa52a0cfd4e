// Pipelined requests of one connection are carried out one after the other, as HTTP requires (RFC 9112, 9.3.2): a client may
// send the DELETE of a document and the PUT of its next version together. Node emits them all at once, and stops reading only
// for unsent responses, which waiting requests do not have yet. So their number is limited here.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Limits, exceeds } from '../limits.ts'

/** The requests of one connection that are not answered yet. */
interface Turns {
  newest: { readonly raw: IncomingMessage; readonly reply: FastifyReply }
  /** Resolves when the newest request is answered. */
  last: Promise<void>
  count: number
  /** The connection will be closed after its last response. */
  isEnding: boolean
}

const turns = new WeakMap<Socket, Turns>()

/**
 * Call it for bytes on a socket that are no valid request. True where the socket needs nothing more: it will be closed after
 * the responses that are under way, or is destroyed. False where the caller must send a response.
 */
export function endAfterAnswers(socket: Socket): boolean {
  const mine = turns.get(socket)
  if (mine === undefined) return false
  if (mine.newest.raw.complete) {
    if (!mine.isEnding) void mine.last.then(() => socket.destroySoon())
    mine.isEnding = true
    return true
  }
  // The body of the newest request is broken off, so it gets no response of its own.
  if (mine.count === 1 && !mine.newest.reply.raw.headersSent) return false
  socket.destroy()
  return true
}

/**
 * Adds the hook that makes requests wait for their turn. A connection with too many waiting requests is destroyed: a 429 would
 * have to wait behind them. A request whose connection has closed is not carried out.
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
    // The client has disconnected: the request ends here.
    if (!socket.writable) reply.hijack()
  })
}
