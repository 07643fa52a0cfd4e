// Requests that come together on one connection are carried out one after the other, as HTTP asks of a server (RFC 9112, 9.3.2):
// a client may send the DELETE of a document and the PUT of the next version at once. Node hands them over all at once, and
// stops reading only where answers wait to be sent: what waits for its turn has none yet, so their number is limited here.

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type Limits, exceeds } from '../limits.ts'

interface Turns {
  /** The answer to what came last. */
  last: Promise<void>
  /** Requests that are not answered, the one under way included. */
  count: number
}

/** A connection on which too many wait is cut: an answer would have to wait behind them. */
export function keepOrder(app: FastifyInstance, { requestsPerConnection }: Limits): void {
  const turns = new WeakMap<Socket, Turns>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const before = turns.get(socket)
    const mine = before ?? { last: Promise.resolve(), count: 0 }
    const { last } = mine
    mine.last = new Promise((resolve) => void reply.raw.once('close', resolve))
    mine.count++
    turns.set(socket, mine)
    void mine.last.then(() => {
      if (--mine.count === 0) turns.delete(socket)
    })
    if (before === undefined) return
    if (exceeds(mine.count, requestsPerConnection)) socket.destroy()
    await last
    // Whoever sent it does not hear of it any more: it ends here.
    if (socket.destroyed) reply.hijack()
  })
}
