// Runs a program with a time limit and a working folder outside every drive.

import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Whom a program runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
}

export interface RunOptions {
  readonly limitMs?: number
  readonly env?: NodeJS.ProcessEnv
  /** Runs the program as this user; default: who runs the test. */
  readonly user?: User | undefined
  /** Non-zero exit codes are answered instead of thrown. */
  readonly mayFail?: boolean
}

/** Runs `program`; throws, with what it said, when it fails or takes longer than two minutes. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { limitMs = 120_000, env = process.env, user, mayFail = false } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], ...user })
    let stdout = ''
    let stderr = ''
    const said = (): string => `${program} ${args.join(' ')}\n${stdout}${stderr}`
    // Rejects at once: a program stuck in the kernel may not even die of SIGKILL.
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`took longer than ${limitMs / 1000} s: ${said()}`))
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
      else reject(new Error(`exit code ${code}: ${said()}`))
    })
  })
}

/** Runs a line of bash with `$1 …` set to `args`; stops at its first failing command. */
export function bash(line: string, args: readonly string[], options?: RunOptions): Promise<Ran> {
  return run('bash', ['-euo', 'pipefail', '-c', line, 'bash', ...args], options)
}

/** True when the program is found in PATH. */
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
