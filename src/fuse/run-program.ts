// Runs a small program of the system: mount, fusermount3, umount, stat. Asynchronously, because such a program may ask
// the drive for its attributes and we are the ones who answer; from `/`, never from inside a drive.

import { spawn } from 'node:child_process'

export interface Ended {
  /** Null when a signal or our time limit ended it. */
  readonly code: number | null
  /** In English, without the line's end. */
  readonly stderr: string
}

export interface RunOptions {
  /** Becomes the program's descriptor 3. */
  readonly fd?: number
  readonly env?: NodeJS.ProcessEnv
  /** Default 20 s. A program stuck in the kernel is left behind: it may not even die of SIGKILL. */
  readonly limitMs?: number
}

/** Resolves when the program ended; rejects with ENOENT when it is not installed. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { fd = 'ignore', env = {}, limitMs = 20_000 } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: { ...process.env, ...env, LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe', fd],
    })
    let stderr = ''
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      child.unref()
      child.stderr?.destroy()
      resolve({ code: null, stderr: `${program} did not end within ${limitMs / 1000} s` })
    }, limitMs)
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    // Not `close`: a daemon the program leaves behind may keep stderr open.
    child.once('exit', (code) => {
      clearTimeout(timer)
      setImmediate(() => resolve({ code, stderr: stderr.trim() }))
    })
  })
}
