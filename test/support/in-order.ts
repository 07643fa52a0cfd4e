// Requests that come together on one connection are carried out one after the other, as every server and proxy has to.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A listener that gets a request when everything before it on its connection is answered; never, where that went away. */
export function inOrder(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const last = new WeakMap<Socket, Promise<void>>()
  return (request, response) => {
    const { socket } = request
    const before = last.get(socket)
    last.set(socket, new Promise((resolve) => void response.once('close', resolve)))
    if (before === undefined) listener(request, response)
    else void before.then(() => void (socket.destroyed || listener(request, response)))
  }
}
