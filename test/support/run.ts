// Runs programs with a time limit, and with `/` as working folder, so that they keep no drive busy.

import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The user that a program runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
}

export interface RunOptions {
  readonly limitMs?: number
  readonly env?: NodeJS.ProcessEnv
  /** Runs the program as this user; default: the test's user. */
  readonly user?: User | undefined
  /** True: other exit codes than 0 are returned instead of thrown. */
  readonly mayFail?: boolean
}

/** Runs `program`. Throws, with its output, if it fails or takes longer than `limitMs` (default: 280 s, a little less than a test may take). */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { limitMs = 280_000, env = process.env, user, mayFail = false } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], ...user })
    let stdout = ''
    let stderr = ''
    const output = (): string => `${program} ${args.join(' ')}\n${stdout}${stderr}`
    // Rejects without waiting for the exit: SIGKILL does not end a program that is stuck in the kernel.
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`took longer than ${limitMs / 1000} s: ${output()}`))
    }, limitMs)
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code === 0 || mayFail) resolve({ code, stdout, stderr })
      else reject(new Error(`exit code ${code}: ${output()}`))
    })
  })
}

/** Runs a bash script with `$1 …` set to `args`; stops at its first failing command. */
export function bash(line: string, args: readonly string[], options?: RunOptions): Promise<Ran> {
  return run('bash', ['-euo', 'pipefail', '-c', line, 'bash', ...args], options)
}

/** True if the program is in PATH. */
export function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
