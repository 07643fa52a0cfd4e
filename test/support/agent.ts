// Filesystem calls made by a child process (`agent.mjs`), each with a time limit.

import { fork } from 'node:child_process'
import type { User } from './run.ts'

/** A call that takes longer than this counts as a hang. */
const callLimitMs = 45_000

export interface Agent {
  /** Makes a call. Rejects with its error (`code` as in Node), or with `ETIMEDOUT` after the limit; then all further calls, too. */
  call<T>(name: string, ...args: unknown[]): Promise<T>
  stop(): void
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly code: string | undefined; readonly message: string }
}

/** Starts the child, which makes its calls as `user`; default: the user that runs the test. */
export function startAgent(user?: User): Agent {
  const child = fork(new URL('agent.mjs', import.meta.url), [], {
    serialization: 'advanced',
    execArgv: [],
    cwd: '/',
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
    ...user,
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let lastId = 0
  let ended: string | undefined

  child.on('message', (message) => {
    const { id, value, error } = message as Answer
    const call = waiting.get(id)
    waiting.delete(id)
    if (error !== undefined) call?.reject(failure(error.code, error.message))
    else call?.resolve(typedArrayAsBuffer(value))
  })
  child.on('exit', () => {
    ended ??= 'the agent ended'
    for (const call of waiting.values()) call.reject(failure('ETIMEDOUT', ended))
    waiting.clear()
  })

  function send(name: string, args: unknown[]): Promise<unknown> {
    if (ended !== undefined) return Promise.reject(failure('ETIMEDOUT', ended))
    const id = ++lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        ended = `${name} ${String(args[0])} did not answer within ${callLimitMs / 1000} s`
        child.kill('SIGKILL')
        for (const call of waiting.values()) call.reject(failure('ETIMEDOUT', ended))
        waiting.clear()
      }, callLimitMs)
      waiting.set(id, {
        resolve(value) {
          clearTimeout(timer)
          resolve(value)
        },
        reject(error) {
          clearTimeout(timer)
          reject(error)
        },
      })
      child.send({ id, call: name, args })
    })
  }

  return {
    call: <T>(name: string, ...args: unknown[]) => send(name, args) as Promise<T>,
    stop() {
      ended ??= 'the agent was stopped'
      child.kill('SIGKILL')
    },
  }
}

function failure(code: string | undefined, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** Returns a Buffer for a Uint8Array: IPC turns Buffers into these. */
function typedArrayAsBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}
