// The program (process) behind a request, of which the kernel names only the thread. A program is named `PID@INODE`, by the
// inode of /proc/PID: a later process with the same number has another.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'

/** Lifetime of a cached lookup: within so short a time no thread's number is reused. */
const rememberedMs = 100

/** Most cached lookups, by thread. */
const maxLookups = 64
const lookups = new Map<number, { readonly program: string | undefined; readonly untilMs: number }>()

/** Most pinned programs: more than use one drive at the same time. */
export const mostPinned = 256
/**
 * Open descriptors of /proc/PID, by program. Without one, the kernel may drop the inode when it is short of memory, and create
 * it again with another number.
 */
const pinned = new Map<string, number>()

/** Returns the program of a thread; undefined where /proc does not show it (another pid namespace, hidepid). */
export function programOf(thread: number): string | undefined {
  if (thread === 0) return undefined
  const now = performance.now()
  const last = lookups.get(thread)
  // So a program that closes many files is looked up ten times a second at most.
  if (last !== undefined && now < last.untilMs) return last.program
  const program = findProgram(thread)
  if (lookups.size >= maxLookups) lookups.clear()
  lookups.set(thread, { program, untilMs: now + rememberedMs })
  return program
}

/** True while a program that `programOf` returned still runs. */
export function isRunning(program: string): boolean {
  const [process, ino] = program.split('@')
  return statSync(`/proc/${process}`, { throwIfNoEntry: false })?.ino === Number(ino)
}

function findProgram(thread: number): string | undefined {
  try {
    const process = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${thread}/status`, 'latin1'))?.[1]
    if (process === undefined) return undefined
    return pin(process)
  } catch {
    return undefined
  }
}

/**
 * Returns the program of a process, and pins it. The start time in /proc/PID/stat must not be read instead: that waits for
 * an exec under way, which may wait for our answer about a file it closes.
 */
function pin(process: string): string {
  const known = `${process}@${statSync(`/proc/${process}`).ino}`
  if (pinned.has(known)) return known
  if (pinned.size >= mostPinned) unpin()
  const fd = openSync(`/proc/${process}`, constants.O_DIRECTORY)
  // Equal to `known`, unless the kernel dropped the inode in between.
  const program = `${process}@${fstatSync(fd).ino}`
  pinned.set(program, fd)
  return program
}

/** Unpins the programs that have ended; if none has, the oldest. */
function unpin(): void {
  const ended = [...pinned.keys()].filter((program) => !isRunning(program))
  for (const program of ended.length > 0 ? ended : [...pinned.keys()].slice(0, 1)) {
    closeSync(pinned.get(program) as number)
    pinned.delete(program)
  }
}
