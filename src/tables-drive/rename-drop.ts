// The rename of a dropped file. Programs save by renaming a temporary file, so the target may get the file only now.

import { ErrnoError } from '../errno-error.ts'
import type { RenameFlags } from '../fs/operations.ts'
import { checkDropName } from './drop-names.ts'
import { type DropPlace, takeUp, type TakeUpParts } from './take-up.ts'
import type { VirtualNode } from './virtual-node.ts'

/** Renames the file after the target has taken it: a refused file keeps its old name. Throws the same errors as close. */
export async function renameDrop(
  parts: TakeUpParts,
  from: DropPlace,
  to: DropPlace,
  { flags, signal }: { readonly flags: RenameFlags; readonly signal: AbortSignal },
): Promise<void> {
  const file = checked(from, to, flags)
  if (to.folder.children.get(to.name) === file) return
  await takeUp(parts, file, to, signal)
  // Other programs may have changed the folders meanwhile.
  if (checked(from, to, flags) !== file) throw new ErrnoError('ENOENT', `${from.name} is gone`)
  parts.nodes.attach(file, to.folder, to.name)
}

/** Returns the file, if it may be renamed. */
function checked(from: DropPlace, to: DropPlace, flags: RenameFlags): VirtualNode {
  const file = from.folder.children.get(from.name)
  if (file === undefined) throw new ErrnoError('ENOENT', `no ${from.name} here`)
  if (from.folder.target === undefined || to.folder.target === undefined) {
    throw new ErrnoError('EPERM', `${from.name}: names here are given by the drive`)
  }
  if (flags.exchange) throw new ErrnoError('EINVAL', 'two files here cannot be exchanged')
  checkDropName(to.name)
  if (flags.noReplace && to.folder.children.has(to.name)) throw new ErrnoError('EEXIST', `${to.name} exists`)
  return file
}
