// Runs a small program of the system: mount, fusermount3, umount, stat. Asynchronously, because such a program may ask
// the drive for its attributes and we are the ones who answer; from `/`, never from inside a drive.

import { spawn } from 'node:child_process'
import { childEnvironment } from '../child-environment.ts'

export interface Ended {
  /** Null when a signal or our time limit ended it. */
  readonly code: number | null
  /** A signal of somebody else ended it. */
  readonly isKilled: boolean
  /** In English, without the line's end. */
  readonly stderr: string
}

export interface RunOptions {
  /** Becomes the program's descriptor 3. */
  readonly fd?: number
  readonly env?: NodeJS.ProcessEnv
  /** Default 20 s. A program stuck in the kernel is left behind: it may not even die of SIGKILL. */
  readonly limitMs?: number
  /**
   * This process is not told of the program's end until this is over: for a program that takes a drive of libfuse's
   * away. When the drive is gone libfuse cancels its threads; one that is told in that moment that a program of ours ended is
   * cancelled inside Node's signal handler, and takes the news and the handler's lock with it: this process would wait for
   * ever, and hang at its next signal.
   */
  readonly keptUntil?: Promise<unknown>
}

/** Says how the program ended, and waits for the end of its input. `exec` would tell us of the end at once. */
const keepingScript = '"$@"; echo "ended $?" >&2; read -r _'
/** Exit code of a shell that does not find a program. */
const notFound = 127
/** Beyond it a shell tells of the signal that ended a program. */
const lastExitCode = 128

/** Resolves when the program ended; rejects with ENOENT when it is not installed. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { fd = 'ignore', env = {}, limitMs = 20_000, keptUntil } = options
  const isKept = keptUntil !== undefined
  const command = isKept ? ['/bin/sh', '-c', keepingScript, 'sh', program, ...args] : [program, ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] ?? program, command.slice(1), {
      cwd: '/',
      env: { ...childEnvironment(), ...env, LC_ALL: 'C' },
      stdio: [isKept ? 'pipe' : 'ignore', 'ignore', 'pipe', fd],
    })
    const letGo = (): void => void child.stdin?.end()
    child.stdin?.on('error', () => {}) // it was killed
    let stderr = ''
    const ended = (code: number | null, said: string, isKilled = false): void => {
      clearTimeout(timer)
      resolve({ code, isKilled, stderr: said.trim() })
    }
    const failed = (error: Error): void => {
      clearTimeout(timer)
      reject(error)
    }
    const timer = setTimeout(() => {
      if (isKept) letGo()
      else child.kill('SIGKILL')
      child.unref()
      child.stderr?.destroy()
      ended(null, `${program} did not end within ${limitMs / 1000} s`)
    }, limitMs)
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const line = isKept ? /^ended (\d+)\n$/m.exec(stderr) : null
      if (line === null) return
      const code = Number(line[1])
      if (code === 0) void keptUntil?.then(letGo, letGo)
      else letGo()
      if (code === notFound) failed(Object.assign(new Error(`no ${program}`), { code: 'ENOENT' }))
      else ended(code, stderr.slice(0, line.index), code > lastExitCode)
    })
    child.once('error', failed)
    // Not `close`: a daemon the program leaves behind may keep stderr open.
    child.once('exit', (code) => void setImmediate(() => ended(code, stderr, code === null)))
  })
}
