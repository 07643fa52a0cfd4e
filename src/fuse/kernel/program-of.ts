// Which program waits for an answer: its process, for as long as that lives. The kernel names the thread.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'

/** No number of a thread is given anew within so short a time (ms). */
const rememberedMs = 100

/** Threads that were looked at lately. */
const mostThreads = 64
const looked = new Map<number, { readonly program: string | undefined; readonly untilMs: number }>()

/** Programs that are told apart for certain: more than run beside one another on a drive. */
export const mostPinned = 256
/**
 * Descriptors of the folders in /proc of programs. The kernel, short of memory, drops an inode of /proc that nobody holds, and makes it
 * anew with another number.
 */
const pinned = new Map<string, number>()

/** Undefined where it cannot be seen (another pid namespace; /proc of others hidden). */
export function programOf(thread: number): string | undefined {
  if (thread === 0) return undefined
  const now = performance.now()
  const last = looked.get(thread)
  // A program that closes many files is looked at ten times a second.
  if (last !== undefined && now < last.untilMs) return last.program
  const program = look(thread)
  if (looked.size >= mostThreads) looked.clear()
  looked.set(thread, { program, untilMs: now + rememberedMs })
  return program
}

/** True while the program that `programOf` named still runs. */
export function isRunning(program: string): boolean {
  const [process, ino] = program.split('@')
  return statSync(`/proc/${process}`, { throwIfNoEntry: false })?.ino === Number(ino)
}

function look(thread: number): string | undefined {
  try {
    const process = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${thread}/status`, 'latin1'))?.[1]
    if (process === undefined) return undefined
    return pin(process)
  } catch {
    return undefined
  }
}

/**
 * Another process that gets this number has another inode. /proc/PID/stat, which tells when it started, must not be read: it waits
 * for an exec, and an exec for the answer to what it closes.
 */
function pin(process: string): string {
  const known = `${process}@${statSync(`/proc/${process}`).ino}`
  if (pinned.has(known)) return known
  if (pinned.size >= mostPinned) unpin()
  const fd = openSync(`/proc/${process}`, constants.O_DIRECTORY)
  // The same as `known`, unless the kernel dropped it in between.
  const program = `${process}@${fstatSync(fd).ino}`
  pinned.set(program, fd)
  return program
}

/** Programs that have ended make room; where none has, the one that was first seen. */
function unpin(): void {
  const ended = [...pinned.keys()].filter((program) => !isRunning(program))
  for (const program of ended.length > 0 ? ended : [...pinned.keys()].slice(0, 1)) {
    closeSync(pinned.get(program) as number)
    pinned.delete(program)
  }
}
