// Runs a program that takes a drive away, and keeps it from ending until libfuse has ended. When the drive is gone libfuse
// cancels its threads; one that is told in that moment that a program of ours ended is cancelled inside Node's signal
// handler, and takes the news and the handler's lock with it: this process would wait for ever, and hang at its next signal.

import { spawn } from 'node:child_process'

import type { Ended, RunOptions } from '../run-program.ts'

/** Says how the program ended, and waits for the end of its input. `exec` would tell us of the end at once. */
const script = '"$@"; echo "ended $?" >&2; read -r _'

/** What a shell says of a program it does not find. */
const notFound = 127

/** As runProgram, of whose options it takes the limit alone. The shell around it goes when `over` has settled. */
export function runKept(
  program: string,
  args: readonly string[],
  over: Promise<unknown>,
  { limitMs = 20_000 }: Pick<RunOptions, 'limitMs'> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', script, 'sh', program, ...args], {
      cwd: '/',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    const letGo = (): void => void child.stdin.end()
    child.stdin.on('error', () => {}) // it was killed
    let stderr = ''
    const timer = setTimeout(() => {
      letGo()
      child.unref()
      child.stderr.destroy()
      resolve({ code: null, stderr: `${program} did not end within ${limitMs / 1000} s` })
    }, limitMs)
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const line = /^ended (\d+)\n$/m.exec(stderr)
      if (line === null) return
      clearTimeout(timer)
      const code = Number(line[1])
      if (code === 0) void over.then(letGo, letGo)
      else letGo()
      if (code === notFound) reject(Object.assign(new Error(`no ${program}`), { code: 'ENOENT' }))
      else resolve({ code, stderr: stderr.slice(0, line.index).trim() })
    })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      resolve({ code, stderr: stderr.trim() })
    })
  })
}
