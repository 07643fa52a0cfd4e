// A pin follows its document or folder when that is renamed on this drive, but not to the name of a backup: an editor that
// renames `f` to `f~`, or `sed -i.bak` to `f.bak`, is about to save `f` anew, and `f` stays pinned. A name that tells no type
// may be a backup's or not: the pin follows once the service has moved the document there.

import type { Intention } from '../../content/intention.ts'
import { nameWithoutBackupEnding } from '../../api/extension.ts'
import { nameOf } from '../../path.ts'
import { isBackupName, isHiddenName } from '../tree/scratch.ts'
import { pathIn } from '../tree/node.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Tree } from '../tree/tree.ts'
import type { Pins } from './pins.ts'

interface Renaming {
  readonly parent: number
  readonly name: string
  readonly newParent: number
  readonly newName: string
}

/** Does the rename, and then moves the pins. */
export async function withPins(
  { tree, pins }: { readonly tree: Tree; readonly pins: Pins },
  { parent, name, newParent, newName }: Renaming,
  rename: () => Promise<void>,
): Promise<void> {
  const from = pathIn(tree.nodes.getFolder(parent), name)
  await rename()
  const to = pathIn(tree.nodes.getFolder(newParent), newName)
  // A document in the trash may be restored to its old path, which stays pinned.
  if (isInTrash(to)) return
  const isFolder = tree.find(to)?.folder !== undefined
  const mayBeBackup =
    isBackupName(newName) || isHiddenName(newName) || nameWithoutBackupEnding(newName) === name
  if (isFolder || !mayBeBackup) pins.moved(from, to)
}

/** Called when the service has moved a document: a name that tells no type is no backup's, since no successor came. */
export function followMove(pins: Pins, { path, source, keepSource }: Intention): void {
  const name = nameOf(path)
  if (source === undefined || keepSource === true || !isBackupName(name) || name.endsWith('~')) return
  if (nameWithoutBackupEnding(name) !== nameOf(source)) pins.moved(source, path)
}
