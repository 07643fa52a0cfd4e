// Opens a folder or an address with the desktop's own program. A process of a systemd unit has the user manager run it: the unit
// began before the desktop, so it knows no screen, and what it starts would end with it.

import { spawn } from 'node:child_process'
import { childEnvironment } from '../child-environment.ts'

/** xdg-open that still runs after this time has opened it. */
const openedMs = 2_000

const throughManager = ['systemd-run', '--user', '--collect', '--quiet', 'xdg-open'] as const

/** Resolves when it is open. Rejects with ENOENT if xdg-open is missing, or with its exit code in the message. */
export function openOnDesktop(target: string): Promise<void> {
  return new Promise((opened, failed) => {
    const isOfUnit = process.env['NOTIFY_SOCKET'] !== undefined
    const [program, ...args] = isOfUnit ? throughManager : (['xdg-open'] as const)
    const opener = spawn(program, [...args, target], {
      cwd: '/',
      env: childEnvironment(),
      detached: true,
      stdio: 'ignore',
    })
    const timer = setTimeout(opened, openedMs)
    opener.once('error', failed).once('exit', (code) => {
      clearTimeout(timer)
      if (code === 0) opened()
      else failed(new Error(`${program} ended with ${code}`))
    })
    opener.unref()
  })
}
