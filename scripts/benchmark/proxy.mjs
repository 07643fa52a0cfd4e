// Control of the process that adds a delay between clients and servers: see proxy-process.mjs.

import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts the process, which all peers share, so that they have equal conditions. */
export function startProxy(undo) {
  const child = fork(new URL('proxy-process.mjs', import.meta.url).pathname, { stdio: 'inherit' })
  let lastId = 0
  const waiting = new Map()
  child.on('message', (answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const ask = (wish) =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      child.send({ ...wish, id })
    })
  undo.push(async () => {
    if (child.connected) child.disconnect()
    if (child.exitCode === null) await once(child, 'exit')
  })
  return {
    /** Returns a port that forwards to `targetPort`. `isSplit`: half the delay in each direction, else all of it to the server. */
    open: async (targetPort, { isSplit = false } = {}) => (await ask({ open: targetPort, isSplit })).port,
    /** Sets the delay (ms) and the rate (Mbit/s each way, for all connections together; absent: no limit) of new connections. */
    setLink: ({ delayMs, megabits }) => ask({ delayMs, megabits }),
  }
}
