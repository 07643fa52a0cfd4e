// Rules for the names of dropped files: which are processed by the target of their folder, ignored, or refused.

import { nameWithoutBackupEnding } from '../api/extension.ts'
import { mimetypeOfName } from '../api/mimetype-of.ts'
import { ErrnoError } from '../errno-error.ts'
import { checkName } from '../fs/tree/names.ts'
import { nameMaxBytes } from '../path.ts'
import { isLocalName } from '../fs/tree/scratch.ts'
import type { DropTarget } from './drop-target.ts'

const resultSuffixes = { json: '.result.json', csv: '.result.csv' }

/** Name of the result file of a dropped file; both are in the same folder. */
export function resultNameOf(name: string, format: keyof typeof resultSuffixes = 'json'): string {
  return `${name}${resultSuffixes[format]}`
}

/** All names that the result file of a dropped file may have. */
export function resultNamesOf(name: string): string[] {
  return Object.values(resultSuffixes).map((suffix) => `${name}${suffix}`)
}

/**
 * - `taken`: passed to the target of the folder when it is closed, or renamed to this name.
 * - `refused`: a document of a kind that the target does not take; close fails.
 * - `kept`: only stored, because it is temporary (of an editor or a copy tool) or a backup, or of no known type.
 */
export type DropFate = 'taken' | 'refused' | 'kept'

export function fateOf(name: string, target: DropTarget): DropFate {
  if (isLocalName(name) || isResultName(name) || nameWithoutBackupEnding(name) !== undefined) return 'kept'
  if (target.takes(name)) return 'taken'
  return mimetypeOfName(name) === undefined ? 'kept' : 'refused'
}

function isResultName(name: string): boolean {
  return Object.values(resultSuffixes).some((suffix) => name.endsWith(suffix))
}

/** Throws EPERM, ENAMETOOLONG, EINVAL or EILSEQ for a name that programs may not give to a dropped file. */
export function checkDropName(name: string): void {
  checkName(name)
  if (isResultName(name)) throw new ErrnoError('EPERM', `${name}: results are written by the drive`)
  if (Buffer.byteLength(resultNameOf(name)) > nameMaxBytes) {
    throw new ErrnoError('ENAMETOOLONG', `${name}: its result would have too long a name`)
  }
}
