// write(2) through a handle.

import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { FileHandle, HandleTable } from '../tree/handles.ts'
import type { BringParts } from '../unsent/bring-here.ts'
import { rebindReaders } from '../unsent/content.ts'
import { checkHole, type HoleParts } from '../unsent/holes.ts'
import type { Undecided } from '../unsent/undecided.ts'
import { makeWritable, markChanged, type ChangeParts } from '../unsent/writing.ts'

export interface WriteParts extends BringParts, ChangeParts, HoleParts {
  readonly handles: HandleTable
  readonly undecided: Undecided
}

export function write(
  parts: WriteParts,
  fh: number,
  offset: number | 'end',
  data: Uint8Array,
  caller: Caller,
): MaybePromise<number> {
  const handle = parts.handles.file(fh)
  const { node } = handle
  if (!handle.flags.write) throw new ErrnoError('EBADF', `${node.path} is not open for writing`)
  // An append depends on no bytes that its program read, and leaves no hole.
  if (offset !== 'end') {
    handle.checkCurrent('write')
    checkHole(parts, node, offset + data.length)
  }
  const wait = parts.undecided.writes(node) ?? makeWritable(parts, node, caller)
  if (wait === undefined) return writeHere(parts, handle, offset, data, caller)
  return abortable(wait, caller.signal).then(() => {
    rebindReaders(parts.handles, node)
    // All checks once more: the content may have changed during the wait.
    return write(parts, fh, offset, data, caller)
  })
}

function writeHere(
  parts: WriteParts,
  handle: FileHandle,
  offset: number | 'end',
  data: Uint8Array,
  caller: Caller,
): MaybePromise<number> {
  const { node } = handle
  const { content } = node
  if (content === undefined) throw new ErrnoError('EIO', `${node.path}: its content is not here`)
  markChanged(parts, node, offset === 'end' || offset >= content.size ? 'appended' : 'in place', caller)
  node.local.wrote()
  handle.used()
  // Programs that append at the same time may each assume another end of the file: the size here is the true one.
  return content.write(offset === 'end' ? content.size : offset, data)
}
