// Prints the error that ends a command, and chooses the exit code. An expected error is printed as one line; any other is a bug,
// and is printed with its stack.

import { ExpectedError } from '../expected-error.ts'
import { exitCodes } from './exit-codes.ts'

/** Advice in place of the system's message, by the system call that failed. */
const adviceBySyscall: ReadonlyMap<unknown, string> = new Map([
  ['uv_cwd', 'the folder you are in is gone; go to another one (cd)'],
  ['uv_os_homedir', 'your home folder is not known: set HOME'],
])

const tooFewFiles = 'this shell allows too few open files; run: ulimit -n 4096'

/** Prints the error, and returns the exit code. */
export function reportError(error: unknown): number {
  if (!(error instanceof Error)) {
    console.error('docmount:', error)
    return exitCodes.failure
  }
  if (error.name.startsWith('Commander')) return commanderExitCode(error)
  const { syscall, code } = error as NodeJS.ErrnoException
  const advice = code === 'EMFILE' ? tooFewFiles : adviceBySyscall.get(syscall)
  console.error(isKnown(error) ? `docmount: ${advice ?? error.message}` : error)
  return exitCodeOf(error)
}

export function exitCodeOf(error: Error): number {
  if (!(error instanceof ExpectedError)) return exitCodes.failure
  if (error.isUsage) return exitCodes.usage
  return error.isTemporary ? exitCodes.temporary : exitCodes.failure
}

/** True for errors of our own classes and of system calls (a full disk, a missing permission); false for a bug. */
export function isKnown(error: Error): boolean {
  return error instanceof ExpectedError || typeof (error as NodeJS.ErrnoException).syscall === 'string'
}

/** Commander has printed its message already. */
function commanderExitCode(error: Error): number {
  const { exitCode } = error as Error & { exitCode?: number }
  return exitCode === 0 ? exitCodes.ok : exitCodes.usage
}
