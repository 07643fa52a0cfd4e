// Runs one of this system's tools (systemctl, secret-tool, notify-send, …) and waits for its end: from `/`, never from inside a
// drive, and in the language of whoever reads what it says. Programs that mount and unmount are run by
// `fuse/run-program.ts`, which a drive that hangs cannot hold.

import { execFile } from 'node:child_process'
import { childEnvironment } from './child-environment.ts'

export interface ToolEnded {
  /** Null when a signal or the time limit ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | undefined
  readonly stdout: string
  readonly stderr: string
}

/**
 * `input` is what it reads, nothing by default; after `limitMs`, 20 s by default, it is killed. Rejects with ENOENT where it is
 * not installed, with the system's error where it cannot be started, and where it says more than 1 MiB.
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
    // It may end without reading.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
