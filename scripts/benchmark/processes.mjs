// Running other programs: with a time limit, or in the background until the end. Whatever is started here is stopped here.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Runs a program to its end. Answers its exit code (124 = over the limit), the seconds it took and what it printed;
 * output larger than 1 MiB is not kept.
 */
export async function run(command, args, { limitSeconds = 60, env, cwd, input } = {}) {
  const child = spawn('timeout', ['-k', '5', String(limitSeconds), command, ...args], {
    env: env ?? process.env,
    cwd,
    stdio: [input ?? 'ignore', 'pipe', 'pipe'],
  })
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

/** As `run`; throws where the program fails. */
export async function runWell(command, args, options) {
  const result = await run(command, args, options)
  if (result.code !== 0) {
    throw new Error(`${command} ${args.join(' ')}: exit ${result.code}: ${result.complaints.slice(-2000)}`)
  }
  return result
}

export async function has(command) {
  return (await run('sh', ['-c', `command -v ${command}`])).code === 0
}

/** A program that runs until it is stopped; what it says goes to `logFile`. */
export function startProgram(command, args, { env, cwd, logFile, stdin, ipc = false } = {}) {
  const child = spawn(command, args, {
    env: env ?? process.env,
    cwd,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
  })
  const log = createWriteStream(logFile, { flags: 'a' })
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  if (stdin !== undefined) child.stdin.end(stdin)
  const ended = once(child, 'exit').finally(() => log.end())
  ended.catch(() => {})
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    child,
    pid: child.pid,
    ended,
    isRunning,
    /** SIGTERM, and SIGKILL after the limit. */
    async stop(limitSeconds = 10) {
      if (!isRunning()) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), limitSeconds * 1000)
      await ended
      clearTimeout(timer)
    },
  }
}

/** Polls until `check` answers something true; throws after the limit, or where `program` ended meanwhile. */
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

/** A port nobody listens at now. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export async function listensAt(port, program) {
  const { connect } = await import('node:net')
  await waitFor(
    `port ${port}`,
    () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.once('connect', () => (socket.destroy(), resolve(true)))
        socket.once('error', () => resolve(false))
      }),
    { program },
  )
}

export { existsSync, sleep }
