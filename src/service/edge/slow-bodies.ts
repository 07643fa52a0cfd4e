// Ends requests with 408 whose body arrives too slowly (fewer than `bodyBytesPerSecond` over a `bodyPeriodMs`), or takes longer
// than `uploadMs`. A body whose bytes wait for this machine to read them does not count as slow.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Limits, exceeds } from '../limits.ts'
import { longestTimerMs } from '../timers.ts'

interface Body {
  readonly reply: FastifyReply
  readonly begunMs: number
  /** `bytesRead` of the socket at the last check; undefined before the first. */
  bytes: number | undefined
}

/** Adds the check of all bodies that are being received. */
export function giveUpSlowBodies(
  app: FastifyInstance,
  { bodyBytesPerSecond, bodyPeriodMs, uploadMs }: Limits,
): void {
  const periods = [bodyBytesPerSecond === 0 ? 0 : bodyPeriodMs, uploadMs].filter((ms) => ms !== 0)
  if (periods.length === 0) return
  const periodMs = Math.min(...periods, longestTimerMs)
  const least = bodyPeriodMs === 0 ? 0 : (bodyBytesPerSecond * periodMs) / 1000
  const arriving = new Map<IncomingMessage, Body>()
  // The hook runs before any that may refuse the request: the body of a refused one arrives, too.
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
    if (length !== '0' || coding !== undefined) {
      arriving.set(raw, { reply, begunMs: performance.now(), bytes: undefined })
      const forget = (): void => void arriving.delete(raw)
      raw.once('end', forget)
      raw.once('close', forget)
    }
    done()
  })
  const timer = setInterval(() => {
    for (const [raw, body] of arriving) {
      if (raw.complete) {
        arriving.delete(raw)
        continue
      }
      const { bytesRead } = raw.socket
      const isSlow = body.bytes !== undefined && bytesRead - body.bytes < least && raw.readableLength === 0
      body.bytes = bytesRead
      if (isSlow) giveUp(raw, body.reply, 'the body came too slowly')
      else if (exceeds(performance.now() - body.begunMs, uploadMs))
        giveUp(raw, body.reply, 'the upload took too long')
    }
  }, periodMs)
  timer.unref()
  app.addHook('onClose', () => clearInterval(timer))
}

function giveUp(raw: IncomingMessage, reply: FastifyReply, errorMessage: string): void {
  if (reply.raw.headersSent) {
    raw.socket.destroy()
    return
  }
  reply.raw.once('finish', () => raw.destroy())
  void reply
    .code(408)
    .header('connection', 'close')
    .type('application/json; charset=utf-8')
    .send({ errorMessage })
}
