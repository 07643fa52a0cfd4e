// The delay between clients and servers: see proxy-process.mjs.

import { fork } from 'node:child_process'
import { once } from 'node:events'

/** One process for all of them, so that everybody goes through the same. */
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
    /** The port through which `targetPort` is reached. `isSplit`: half the delay in each direction. */
    open: async (targetPort, { isSplit = false } = {}) => (await ask({ open: targetPort, isSplit })).port,
    /** Milliseconds, and megabits per second each way for all together (absent: no limit). For connections made from now on. */
    setLink: ({ delayMs, megabits }) => ask({ delayMs, megabits }),
  }
}
