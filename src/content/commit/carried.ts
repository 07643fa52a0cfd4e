// Checks of the content that an intention carries: the bytes sent must be those that were journaled.

import { ErrnoError } from '../../errno-error.ts'
import type { Digest } from '../digest.ts'
import type { Intention } from '../intention.ts'
import type { Spool } from '../spool/spool.ts'
import type { SpoolFile } from '../spool/spool-file.ts'

/** True where its content is in the spool. */
export function hasContent(spool: Spool, intention: Intention): intention is Intention & { spool: string } {
  return intention.spool !== undefined && spool.has(intention.spool)
}

/** Returns the spool file with the intention's content. Throws EBADMSG where it is gone. */
export function contentOf(spool: Spool, { path }: Intention, id: string): SpoolFile {
  if (spool.has(id)) return spool.get(id)
  throw damagedContent(path, 'it is gone')
}

/** The error for damaged content (EBADMSG): it must not be sent, waiting would not help, and the user decides. */
export function damagedContent(path: string, detail: string): ErrnoError {
  return new ErrnoError(
    'EBADMSG',
    `${path}: the content kept on this machine is damaged (${detail}): nothing was sent, what the service has stays`,
  )
}

/** The detail for `damagedContent` where the content found differs from the content saved. */
export function mismatchDetail(saved: Digest, found: Digest): string {
  return saved.size === found.size
    ? 'other bytes than were saved'
    : `${found.size} bytes, and ${saved.size} were saved`
}
