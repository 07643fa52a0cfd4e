// The crossing from errors to the person at the terminal: a known error is one line and an exit code, anything else is a
// bug and shows its stack.

import { exitCodes } from './exit-codes.ts'

/** By name: importing the classes would load what threw them, which a quick command never needs. */
const knownNames = new Set([
  'DaemonError',
  'UsageError',
  'InputError',
  'MountError',
  'ErrnoError',
  'ApiError',
  'NetworkError',
  'ContentError',
  'StartError',
  'BackupError',
  'MoveError',
  'SettingError',
])

/** Advice in place of the system's message, by the call that failed. */
const places: ReadonlyMap<unknown, string> = new Map([
  ['uv_cwd', 'the folder you are in is gone; go to another one (cd)'],
  ['uv_os_homedir', 'your home folder is not known: set HOME'],
])

const tooFewFiles = 'this shell allows too few open files; run: ulimit -n 4096'

/** Prints the error and answers the exit code. */
export function reportError(error: unknown): number {
  if (!(error instanceof Error)) {
    console.error('docmount:', error)
    return exitCodes.failure
  }
  if (error.name.startsWith('Commander')) return commanderExitCode(error)
  const { syscall, code } = error as NodeJS.ErrnoException
  const place = code === 'EMFILE' ? tooFewFiles : places.get(syscall)
  console.error(isKnown(error) ? `docmount: ${place ?? error.message}` : error)
  return exitCodeOf(error)
}

export function exitCodeOf(error: Error): number {
  if (['UsageError', 'InputError', 'SettingError'].includes(error.name)) return exitCodes.usage
  if (error.name === 'NetworkError' || (error as { isTemporary?: unknown }).isTemporary === true) {
    return exitCodes.temporary
  }
  return isTemporaryStatus((error as { status?: unknown }).status) ? exitCodes.temporary : exitCodes.failure
}

/** True for what we throw on purpose, and for what the system refused (a full disk, a missing permission). */
export function isKnown(error: Error): boolean {
  return knownNames.has(error.name) || typeof (error as NodeJS.ErrnoException).syscall === 'string'
}

/** Commander has printed its line itself. */
function commanderExitCode(error: Error): number {
  const { exitCode } = error as Error & { exitCode?: number }
  return exitCode === 0 ? exitCodes.ok : exitCodes.usage
}

function isTemporaryStatus(status: unknown): boolean {
  return typeof status === 'number' && (status === 408 || status === 429 || status >= 500)
}
