// How a command ends if its standard output cannot be written: a closed pipe, or a full disk.

import { exitCodes } from './exit-codes.ts'
import { reportError } from './report-error.ts'

/** Commands that continue without standard output: they print only how to reach them. */
const servingCommands = new Set(['serve', 'mount', 'webdav', 'ui'])

/** Ignores a closed pipe (`| head -1`); any other error of stdout makes a command that succeeded fail. */
export function watchOutput(command: string | undefined): void {
  let failure: Error | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure = error
  })
  if (servingCommands.has(command ?? '')) return
  process.once('exit', (code) => {
    if (failure !== undefined && code === exitCodes.ok) process.exitCode = reportError(failure)
  })
}

/** For commands that print until Ctrl-C: they end when the reader of a pipe closes it. */
export function exitWhenReaderCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
  })
}
