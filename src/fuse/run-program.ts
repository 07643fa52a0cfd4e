// Runs a small program of the system: mount, fusermount3, umount, stat. Asynchronously, because such a program may access
// the drive that this process serves; in the folder `/`, never inside a drive.

import { spawn } from 'node:child_process'
import { childEnvironment } from '../child-environment.ts'

export interface Ended {
  /** Null when a signal or our time limit ended it. */
  readonly code: number | null
  /** True if a signal of another process ended it. */
  readonly isKilled: boolean
  /** Its messages, in English, trimmed. */
  readonly stderr: string
}

export interface RunOptions {
  /** Becomes the program's descriptor 3. */
  readonly fd?: number
  readonly env?: NodeJS.ProcessEnv
  /** Default 20 s. A program stuck in the kernel is left behind: it may not even die of SIGKILL. */
  readonly limitMs?: number
  /**
   * Delays the SIGCHLD of the program's end until this promise is over; for a program that unmounts a drive of libfuse. libfuse then
   * cancels its threads. One that is just handling SIGCHLD would be cancelled inside Node's signal handler, with its lock:
   * this process would never learn of the end, and hang at its next signal.
   */
  readonly reportEndAfter?: Promise<unknown>
}

/** Prints the program's exit code, and waits for the end of its own input. */
const delayingScript = '"$@"; echo "ended $?" >&2; read -r _'
/** Exit code of a shell for a missing program. */
const notFound = 127
/** A shell's exit code beyond it means that a signal ended the program. */
const lastExitCode = 128

/** Resolves when the program ended; rejects with ENOENT when it is not installed. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { fd = 'ignore', env = {}, limitMs = 20_000, reportEndAfter } = options
  const isDelayed = reportEndAfter !== undefined
  const command = isDelayed ? ['/bin/sh', '-c', delayingScript, 'sh', program, ...args] : [program, ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] ?? program, command.slice(1), {
      cwd: '/',
      env: { ...childEnvironment(), ...env, LC_ALL: 'C' },
      stdio: [isDelayed ? 'pipe' : 'ignore', 'ignore', 'pipe', fd],
    })
    const endShell = (): void => void child.stdin?.end()
    child.stdin?.on('error', () => {}) // it was killed
    let stderr = ''
    const ended = (code: number | null, message: string, isKilled = false): void => {
      clearTimeout(timer)
      resolve({ code, isKilled, stderr: message.trim() })
    }
    const failed = (error: Error): void => {
      clearTimeout(timer)
      reject(error)
    }
    const timer = setTimeout(() => {
      if (isDelayed) endShell()
      else child.kill('SIGKILL')
      child.unref()
      child.stderr?.destroy()
      ended(null, `${program} did not end within ${limitMs / 1000} s`)
    }, limitMs)
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const line = isDelayed ? /^ended (\d+)\n$/m.exec(stderr) : null
      if (line === null) return
      const code = Number(line[1])
      if (code === 0) void reportEndAfter?.then(endShell, endShell)
      else endShell()
      if (code === notFound) failed(Object.assign(new Error(`no ${program}`), { code: 'ENOENT' }))
      else ended(code, stderr.slice(0, line.index), code > lastExitCode)
    })
    child.once('error', failed)
    // Not `close`: a daemon that the program started may keep stderr open.
    child.once('exit', (code) => void setImmediate(() => ended(code, stderr, code === null)))
  })
}
