// Pipelined requests of one connection, handled one after the other, as HTTP requires. Node's server would start all at once.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Returns a listener that calls `listener` when all earlier requests of the connection are answered; never if it was closed. */
export function inOrder(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const lastAnswered = new WeakMap<Socket, Promise<void>>()
  return (request, response) => {
    const { socket } = request
    const previous = lastAnswered.get(socket)
    lastAnswered.set(socket, new Promise((resolve) => void response.once('close', resolve)))
    if (previous === undefined) listener(request, response)
    else void previous.then(() => void (socket.destroyed || listener(request, response)))
  }
}
