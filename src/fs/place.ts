// What is true of one path, in one word and its reasons: with the service, on its way, refused, here only, or not there.

import { ErrnoError } from '../errno-error.ts'
import { nodeAt } from './node-at.ts'
import { unsentAt } from './control.ts'
import { whyHere } from './unsent/local-only.ts'
import type { Place } from './status.ts'
import type { Node } from './tree/node.ts'
import type { Superblock } from './superblock.ts'

/** Never throws: what cannot be known is said. */
export async function placeOf(sb: Superblock, path: string): Promise<Place> {
  let node: Node | undefined
  try {
    node = await nodeAt(sb, path)
  } catch (error) {
    if (!(error instanceof ErrnoError && error.code === 'ENOENT'))
      return unsentPlace(sb, path) ?? { state: 'unknown', why: (error as Error).message }
  }
  return unsentPlace(sb, path) ?? (node === undefined ? absent(sb, path) : placeOfNode(node))
}

function unsentPlace(sb: Superblock, path: string): Place | undefined {
  const unsent = unsentAt(sb, path)
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
  if (node.isScratch) return { state: 'here', bytes: bytes ?? 0, why: whyHere(node) }
  if (node.isDirty || version === undefined)
    return { state: 'here', bytes: bytes ?? 0, why: 'open in a program: it is sent when it is closed' }
  return { state: 'stored', bytes, since: node.remote?.modifiedAt }
}

function absent(sb: Superblock, path: string): Place {
  const what = sb.refusedNames.at(path)
  if (what === undefined) return { state: 'absent' }
  return { state: 'refused', why: `the service takes no ${what}; nothing of it is here`, unsent: undefined }
}
