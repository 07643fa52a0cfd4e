// Runs one of this system's tools (systemctl, secret-tool, notify-send, …) and waits for its end. Its working folder is `/`, so
// that it never keeps a drive busy; it inherits the user's locale. Programs that mount and unmount are run by
// `fuse/run-program.ts`, which a drive that hangs cannot block.

import { execFile } from 'node:child_process'
import { childEnvironment } from './child-environment.ts'

export interface ToolEnded {
  /** Exit code; null if a signal or the time limit ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | undefined
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `program` with `input` on its stdin (default: empty), and kills it after `limitMs` (default: 20 s). Resolves whatever the
 * exit code. Rejects with ENOENT if it is not installed, with the system's error if it cannot be started, and if it prints more
 * than 1 MiB.
 */
export function runTool(
  program: string,
  args: readonly string[],
  { input = '', limitMs = 20_000 }: { readonly input?: string; readonly limitMs?: number } = {},
): Promise<ToolEnded> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { cwd: '/', env: childEnvironment(), timeout: limitMs, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const { code = null, signal } = error ?? { code: 0 }
        if (typeof code === 'string') reject(error)
        else resolve({ code, signal, stdout, stderr })
      },
    )
    // EPIPE: the program may end without reading its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
