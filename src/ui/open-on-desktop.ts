// Opens a folder or an address with the desktop's own program.

import { spawn } from 'node:child_process'
import { childEnvironment } from '../child-environment.ts'

/** xdg-open that still runs after this time has opened it. */
const openedMs = 2_000

/** Resolves when it is open. Rejects with ENOENT if xdg-open is missing, or with its exit code in the message. */
export function openOnDesktop(target: string): Promise<void> {
  return new Promise((opened, failed) => {
    const opener = spawn('xdg-open', [target], {
      cwd: '/',
      env: childEnvironment(),
      detached: true,
      stdio: 'ignore',
    })
    const timer = setTimeout(opened, openedMs)
    opener.once('error', failed).once('exit', (code) => {
      clearTimeout(timer)
      if (code === 0) opened()
      else failed(new Error(`xdg-open ended with ${code}`))
    })
    opener.unref()
  })
}
