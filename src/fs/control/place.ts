// State of one path, with its reason: stored in the service, unsent, refused, on this machine only, or absent.

import { ErrnoError } from '../../errno-error.ts'
import { nodeAt } from '../tree/node-at.ts'
import { unsentAt, type UnsentParts } from '../unsent/unsent-now.ts'
import { whyHere } from '../unsent/local-only.ts'
import type { Place } from '../status.ts'
import type { Node } from '../tree/node.ts'
import type { RefusedNames } from '../attention/refused-names.ts'
import type { Tree } from '../tree/tree.ts'

export interface PlaceParts extends UnsentParts {
  readonly tree: Tree
  readonly refusedNames: RefusedNames
}

/** Returns the state of a path; `unknown`, with a reason, if it cannot be found out. Never throws. */
export async function placeOf(parts: PlaceParts, path: string): Promise<Place> {
  let node: Node | undefined
  try {
    node = await nodeAt(parts.tree, path)
  } catch (error) {
    if (!(error instanceof ErrnoError && error.code === 'ENOENT'))
      return unsentPlace(parts, path) ?? { state: 'unknown', why: (error as Error).message }
  }
  return (
    unsentPlace(parts, path) ?? (node === undefined ? absent(parts.refusedNames, path) : placeOfNode(node))
  )
}

function unsentPlace(parts: UnsentParts, path: string): Place | undefined {
  const unsent = unsentAt(parts, path)
  if (unsent === undefined) return undefined
  const { state, lastError = 'no reason given' } = unsent
  return state === 'refused' ? { state, why: lastError, unsent } : { state: 'unsent', unsent }
}

function placeOfNode(node: Node): Place {
  const { size: bytes, version, folder } = node
  if (folder !== undefined) {
    if (!folder.isMadeHere) return { state: 'folder' }
    return { state: 'here', bytes: 0, why: 'an empty folder reaches the service with its first document' }
  }
  if (node.isLocalOnly) return { state: 'here', bytes: bytes ?? 0, why: whyHere(node) }
  if (node.isDirty || version === undefined)
    return { state: 'here', bytes: bytes ?? 0, why: 'open in a program: it is sent when it is closed' }
  return { state: 'stored', bytes, since: node.remote?.modifiedAt }
}

function absent(refusedNames: RefusedNames, path: string): Place {
  const what = refusedNames.at(path)
  if (what === undefined) return { state: 'absent' }
  return { state: 'refused', why: `the service takes no ${what}; nothing of it is here`, unsent: undefined }
}
