// Fate of a dropped file by its name: looked at when it is closed, only kept, or refused.

import { formerName } from '../api/extension.ts'
import { mimetypeOfName } from '../api/mimetype-of.ts'
import { ErrnoError } from '../errno-error.ts'
import { checkName } from '../fs/tree/names.ts'
import { nameMaxBytes } from '../path.ts'
import { isLocalName } from '../fs/tree/scratch.ts'
import type { DropTarget } from './drop-target.ts'

const resultSuffixes = { json: '.result.json', csv: '.result.csv' }

/** Beside the file it is the result of. */
export function resultNameOf(name: string, format: keyof typeof resultSuffixes = 'json'): string {
  return `${name}${resultSuffixes[format]}`
}

/** Every name that a result of the file may have. */
export function resultNamesOf(name: string): string[] {
  return Object.values(resultSuffixes).map((suffix) => `${name}${suffix}`)
}

/**
 * - `taken`: given to the folder's table when it is closed, or gets this name.
 * - `refused`: a document of another kind, told at close.
 * - `kept`: on its way to another name (an editor's or a copier's temporary file), or left by the way (a backup).
 */
export type DropFate = 'taken' | 'refused' | 'kept'

export function fateOf(name: string, target: DropTarget): DropFate {
  if (isLocalName(name) || isResultName(name) || formerName(name) !== undefined) return 'kept'
  if (target.takes(name)) return 'taken'
  return mimetypeOfName(name) === undefined ? 'kept' : 'refused'
}

function isResultName(name: string): boolean {
  return Object.values(resultSuffixes).some((suffix) => name.endsWith(suffix))
}

/** Throws EPERM, ENAMETOOLONG, EINVAL or EILSEQ for a name no program may give a file here. */
export function checkDropName(name: string): void {
  checkName(name)
  if (isResultName(name)) throw new ErrnoError('EPERM', `${name}: results are written by the drive`)
  if (Buffer.byteLength(resultNameOf(name)) > nameMaxBytes) {
    throw new ErrnoError('ENAMETOOLONG', `${name}: its result would have too long a name`)
  }
}
