// Extended attributes of documents, for programs that do not use the control socket: the state of a document, and its pin, which
// can be set. listxattr does not list them, so that programs do not copy them along.

import { ErrnoError } from '../../errno-error.ts'
import { printable } from '../../printable.ts'
import type { Attribute, NameStatus } from '../status.ts'
import type { Node } from '../tree/node.ts'
import { nodeStatus, type FolderParts } from './folder-status.ts'

const prefix = 'user.docmount.'

/** Values of the attributes, by name without the prefix; undefined if the document does not have the attribute now. */
const values: Readonly<Record<string, (status: NameStatus) => string | undefined>> = {
  state: ({ state }) => state,
  here: ({ here }) => here,
  offline: ({ isPinned }) => (isPinned ? '1' : '0'),
  sent: ({ sentBytes, bytesToSend }) => (bytesToSend === 0 ? undefined : `${sentBytes}/${bytesToSend}`),
  problem: ({ problem }) => (problem === undefined ? undefined : printable(problem)),
}

/** Returns the errno instead of throwing it, which costs much more: the kernel asks for `security.capability` before each write. */
export function attributeOf(parts: FolderParts, ino: number, attribute: string): Attribute {
  if (!attribute.startsWith(prefix)) return { errno: 'EOPNOTSUPP' }
  const name = attribute.slice(prefix.length)
  const valueOf = Object.hasOwn(values, name) ? values[name] : undefined
  const node = parts.tree.nodes.find(ino)
  const value = node === undefined ? undefined : valueOf?.(nodeStatus(parts, node))
  return value === undefined ? { errno: 'ENODATA' } : { value }
}

/**
 * Pins, or ends the pin. `value` undefined removes the attribute. Throws EOPNOTSUPP for a foreign attribute, EPERM for a read-only
 * one, EINVAL, EBUSY if a folder above is pinned, ENOSPC if the pin does not fit, and errors of listing the path.
 */
export async function setAttribute(
  parts: FolderParts,
  ino: number,
  attribute: string,
  { value, signal }: { value: string | undefined; signal: AbortSignal },
): Promise<void> {
  if (!attribute.startsWith(prefix)) throw new ErrnoError('EOPNOTSUPP', `${attribute} is kept by no drive`)
  if (attribute !== `${prefix}offline`) throw new ErrnoError('EPERM', `${attribute} only tells`)
  const node = parts.tree.nodes.find(ino)
  if (node === undefined || node.isUnlinked) throw new ErrnoError('ENOENT', 'nothing has this name')
  if (value === '1') await pin(parts, node, signal)
  else if (value === '0' || value === undefined) unpin(parts, node)
  else throw new ErrnoError('EINVAL', `${attribute} is 0 or 1`)
}

async function pin({ pins }: FolderParts, { path }: Node, signal: AbortSignal): Promise<void> {
  const { kind } = await pins.pin(path, signal)
  if (kind === 'no-room') throw new ErrnoError('ENOSPC', `${path} does not fit`)
}

function unpin({ pins, pinStore }: FolderParts, { path }: Node): void {
  pinStore.checkNotInPin(path)
  if (pinStore.has(path)) pins.unpin(path)
}
