// Another name for a dropped file. With it a temporary file may become one its folder takes: that is how programs save.

import { ErrnoError } from '../errno-error.ts'
import type { RenameFlags } from '../fs/operations.ts'
import { checkDropName } from './drop-names.ts'
import { type DropPlace, takeUp, type TakeUpParts } from './take-up.ts'
import type { VirtualNode } from './virtual-node.ts'

/** Check, take up, apply: a file its table refuses keeps its old name. Throws what close would throw. */
export async function renameDrop(
  parts: TakeUpParts,
  from: DropPlace,
  to: DropPlace,
  how: { readonly flags: RenameFlags; readonly signal: AbortSignal },
): Promise<void> {
  const file = checked(from, to, how.flags)
  if (to.folder.children.get(to.name) === file) return
  await takeUp(parts, file, to, how.signal)
  // Others went on meanwhile.
  if (checked(from, to, how.flags) !== file) throw new ErrnoError('ENOENT', `${from.name} is gone`)
  parts.nodes.attach(file, to.folder, to.name)
}

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
