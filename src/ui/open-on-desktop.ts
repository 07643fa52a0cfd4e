// Hands a folder or an address to whatever the desktop opens it with.

import { spawn } from 'node:child_process'
import { childEnvironment } from '../child-environment.ts'

/** A program that stays this long (ms) has opened it. */
const openedMs = 2_000

/** Resolves when it is open. Rejects with ENOENT where there is no xdg-open, or with what it ended with. */
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
