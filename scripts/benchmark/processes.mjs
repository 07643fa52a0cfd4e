// Other programs: run with a time limit, or in the background until they are stopped.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Runs a program to its end. Returns its exit code (124: over the limit), the seconds it took, and its output (up to
 * about 1 MiB).
 */
export async function run(command, args, { limitSeconds = 60, env = process.env, cwd } = {}) {
  const limited = ['-k', '5', String(limitSeconds), command, ...args]
  const child = spawn('timeout', limited, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let complaints = ''
  child.stdout.on('data', (chunk) => {
    if (output.length < 1024 * 1024) output += chunk
  })
  child.stderr.on('data', (chunk) => {
    if (complaints.length < 64 * 1024) complaints += chunk
  })
  const start = performance.now()
  const [code, signal] = await once(child, 'exit')
  const seconds = (performance.now() - start) / 1000
  return { code: signal === null ? code : 124, seconds, output, complaints }
}

/** Runs a program as `run` does, but throws if it fails. */
export async function runWell(command, args, options) {
  const result = await run(command, args, options)
  if (result.code === 0) return result
  throw new Error(`${command} ${args.join(' ')}: exit ${result.code}: ${result.complaints.slice(-2000)}`)
}

export async function has(command) {
  return (await run('sh', ['-c', `command -v ${command}`])).code === 0
}

/** Starts a program that runs until it is stopped. Its output goes to `logFile`; with `isAsked`, stdout goes to `answer`. */
export function startProgram(command, args, { env = process.env, cwd, logFile, isAsked = false }) {
  const log = openSync(logFile, 'a')
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', isAsked ? 'pipe' : log, log] })
  const ended = once(child, 'exit')
  ended.catch(() => {})
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid,
    isRunning,
    /** Returns the stdout as soon as `isEnough(stdout)` is true; only with `isAsked`. Throws if the program ends before. */
    async answer(isEnough) {
      let text = ''
      const found = new Promise((resolve) =>
        child.stdout.on('data', (chunk) => isEnough((text += chunk)) && resolve()),
      )
      await Promise.race([found, ended])
      if (!isEnough(text)) throw new Error(`${command} ${args[0]} did not start; its log is ${logFile}`)
      return text
    },
    /** Sends SIGTERM, and SIGKILL after the limit; resolves when the program has ended. */
    async stop(limitSeconds = 10) {
      if (!isRunning()) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), limitSeconds * 1000)
      await ended
      clearTimeout(timer)
    },
  }
}

/** Polls until `check` returns a truthy value, and returns it. Throws after the limit, or if `program` ends. */
export async function waitFor(what, check, { limitSeconds = 30, everyMs = 20, program } = {}) {
  const deadline = performance.now() + limitSeconds * 1000
  for (;;) {
    const answer = await check()
    if (answer) return answer
    if (program !== undefined && !program.isRunning()) throw new Error(`${what}: the program ended`)
    if (performance.now() > deadline) throw new Error(`${what}: not within ${limitSeconds} s`)
    await sleep(everyMs)
  }
}

/** Returns a port that no program listens on now. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export async function listensAt(port, program) {
  const isOpen = () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => (socket.destroy(), resolve(true)))
      socket.once('error', () => resolve(false))
    })
  await waitFor(`port ${port}`, isOpen, { program })
}

/** Calls `action` for every item, at most `count` at once, in order of start. */
export async function parallel(items, count, action) {
  let next = 0
  const lane = async () => {
    while (next < items.length) {
      const at = next++
      await action(items[at], at)
    }
  }
  await Promise.all(Array.from({ length: count }, lane))
}
