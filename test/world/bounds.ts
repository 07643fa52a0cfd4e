// Bounds of a drive at work: what it keeps of each change that the service does not have yet, and the calls that one
// operation costs when the service is well.

import type { Superblock } from '../../src/fs/superblock.ts'
import type { Action } from '../model/choices.ts'
import type { Platter } from './platter.ts'

/** Changes that wait at one path: one under way, one behind it, and a move of each. */
const mostAtPath = 6
/** Contents of one change: the one it carries, and the copy that is being written. */
const contentsPerChange = 2
/** Contents that are being written, of no change yet, or were sent within the last second: they go when no power cut brings their rows back. */
const contentsUnderWay = 30

/** Changes, digests and contents kept for what is unsent, counted after every step. */
export class Kept {
  #changesBefore = 0

  /** Throws where more is kept than its documents need. `filesHere`: how many are on this machine only. */
  check(sb: Superblock, platter: Platter, filesHere: () => number): void {
    const atPath = new Map<string, number>()
    let changes = 0
    for (const { intention } of sb.queue.jobs()) {
      changes++
      const { path, sentDigests } = intention
      const waiting = (atPath.get(path) ?? 0) + 1
      atPath.set(path, waiting)
      if (waiting > mostAtPath) throw new Error(`${waiting} changes wait at ${path}`)
      const digests = new Set(sentDigests.map(({ sha256 }) => sha256))
      if (digests.size < sentDigests.length)
        throw new Error(
          `${path}: ${sentDigests.length} digests are kept of ${digests.size} contents that were sent`,
        )
    }
    // All that waited may have been sent a moment ago (880230).
    const most = contentsPerChange * Math.max(changes, this.#changesBefore) + contentsUnderWay
    this.#changesBefore = changes
    const contents = contentsOf(platter).length
    if (contents <= most) return
    const here = filesHere()
    if (contents > most + here)
      throw new Error(
        `${contents} contents are kept for ${changes} unsent changes and ${here} files of this machine`,
      )
  }
}

/** Paths of the contents in the spool. */
export function contentsOf(platter: Platter): string[] {
  return [...platter.names.keys()].filter((path) => path.includes('/spool/') && !path.endsWith('.json'))
}

/** Calls about documents, at most, that an operation costs when the service is well; listings are not among them. */
const mostCalls: Readonly<Record<Action['kind'], number>> = {
  // A look, and a replace.
  write: 3,
  'write slowly': 3,
  'hand on': 6,
  'cut while closing': 6,
  // It may have to be fetched first, by a new link.
  append: 5,
  truncate: 5,
  cut: 5,
  read: 2,
  touch: 1,
  // A look at the source, the copy, a look at it, the DELETE; where a document stands there a look at both, and a DELETE.
  rename: 7,
  // A look, and the DELETE.
  unlink: 2,
  // A folder made here, which the service may have by now.
  mkdir: 1,
  // A folder that was removed in it, and is listed still, is looked into.
  rmdir: 2,
}

/** Additional calls where the service tells less, or cannot copy a document itself. */
const forLittle = 2

/**
 * Additional calls for a content larger than any the service has taken: a PUT while the old version still stands,
 * and a look at what refused it.
 */
const forLarge = 2
const largeBytes = 512 * 1024

/** `tellsAll`: the service tells in its listings what it may, and copies documents by itself. `within`: documents at and below a path. */
export function callsFor(
  actions: readonly Action[],
  tellsAll: boolean,
  within: (path: string) => number,
): number {
  // A folder in which nothing is yet is none of the service's: what is asked of it looks as if a document were asked for.
  const foldersAbove = (path: string): number => path.split('/').length - 3
  const isLarge = (action: Action): boolean => 'content' in action && action.content.length > largeBytes
  const most = (action: Action): number =>
    mostCalls[action.kind] +
    // One that the service does not have is looked for in those above it, up to one that it has (2401035).
    foldersAbove(action.path) * (action.kind === 'rmdir' ? 2 : 1) +
    (tellsAll ? 0 : forLittle) +
    (isLarge(action) ? forLarge : 0)
  // A folder is renamed document by document, and its rest looked through.
  const times = (action: Action): number => (action.kind === 'rename' ? 1 + within(action.to) : 1)
  return actions.reduce((sum, action) => sum + most(action) * times(action), 0)
}
