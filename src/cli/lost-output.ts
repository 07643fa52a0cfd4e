// Lost output, and how its command ends.

import { exitCodes } from './exit-codes.ts'
import { reportError } from './report-error.ts'

/** These go on without it: what they print is only how to reach them. */
const serving = new Set(['serve', 'mount', 'webdav', 'ui'])

/** `| head -1` has seen enough, and is no failure; output that a full disk refused is one. */
export function watchOutput(command: string | undefined): void {
  let refused: Error | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') refused = error
  })
  if (serving.has(command ?? '')) return
  process.once('exit', (code) => {
    if (refused !== undefined && code === exitCodes.ok) process.exitCode = reportError(refused)
  })
}

/** For what tells again and again: it ends with its last reader. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
  })
}
