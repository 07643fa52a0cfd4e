// A pin follows what it names when that is renamed on this drive. Not to the name of a backup: an editor that renames `f` to
// `f~`, or `sed -i.bak` to `f.bak`, is about to save `f` anew, and it is `f` that is pinned.

import { formerName } from '../../api/mimetype-of.ts'
import { isBackupName, isHiddenName, isLocalName } from '../tree/scratch.ts'
import { pathIn } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import type { Pins } from './pins.ts'

interface Renaming {
  readonly parent: number
  readonly name: string
  readonly newParent: number
  readonly newName: string
}

/** Renames, and then the pins. */
export async function withPins(
  { tree, pins }: { readonly tree: Tree; readonly pins: Pins },
  { parent, name, newParent, newName }: Renaming,
  rename: () => Promise<void>,
): Promise<void> {
  const from = pathIn(tree.nodes.getFolder(parent), name)
  await rename()
  if (isLocalName(newName) || isBackupName(newName) || isHiddenName(newName)) return
  if (formerName(newName) === name) return
  pins.moved(from, pathIn(tree.nodes.getFolder(newParent), newName))
}
