// Extended attributes of a drive, for programs that know no socket: the state of a document, and its pin as one to be set. Not
// in any list of names, so that no copy carries them along.

import { ErrnoError } from '../../errno-error.ts'
import { printable } from '../../printable.ts'
import type { Attribute, NameStatus } from '../status.ts'
import type { Node } from '../tree/node.ts'
import { nodeStatus, type FolderParts } from './folder-status.ts'

const prefix = 'user.docmount.'

/** Undefined: there is none now. */
const values: Readonly<Record<string, (status: NameStatus) => string | undefined>> = {
  state: ({ state }) => state,
  here: ({ here }) => here,
  offline: ({ isPinned }) => (isPinned ? '1' : '0'),
  sent: ({ sentBytes, bytesToSend }) => (bytesToSend === 0 ? undefined : `${sentBytes}/${bytesToSend}`),
  problem: ({ problem }) => (problem === undefined ? undefined : printable(problem)),
}

/** The answer to each write of a program, which asks for an attribute that no drive has: an error that is thrown costs much more. */
export function attributeOf(parts: FolderParts, ino: number, attribute: string): Attribute {
  if (!attribute.startsWith(prefix)) return { errno: 'EOPNOTSUPP' }
  const valueOf = values[attribute.slice(prefix.length)]
  const node = parts.tree.nodes.find(ino)
  const value = node === undefined ? undefined : valueOf?.(nodeStatus(parts, node))
  return value === undefined ? { errno: 'ENODATA' } : { value }
}

/**
 * Pins, or ends the pin. `value` undefined removes the attribute. Throws EOPNOTSUPP for one of others; EPERM for one that only tells;
 * EINVAL; EBUSY where a folder above is pinned; ENOSPC where it does not fit; and what listing it throws.
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
