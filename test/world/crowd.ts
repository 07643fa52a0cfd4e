// Several programs that work on the same few names at once.

import type { Chance } from '../model/chance.ts'

export interface Crowd {
  /** A program does something. */
  act(chance: Chance): Promise<void>
  /** The drive has begun again. */
  goOn(wasCut: boolean): Promise<void>
  /** No call is under way, and nothing is unsent: throws a Loss where it is not right what is there. */
  check(): Promise<void>
}

export const crowdedFolder = '/crowd'
/** So many programs. */
export const crowd = 3

/** Errors after which a call may be done or not. */
const passing = new Set(['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN', 'ENOSPC', 'EACCES', 'ENOTCONN', 'ESTALE'])

export function isPassing(code: string): boolean {
  return passing.has(code)
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
