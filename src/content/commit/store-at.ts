// One upload of a whole document, which waits for its answer also when aborted, and the type that a copy is sent with.

import { isMimetype, type Mimetype } from '../../api/mimetypes.ts'
import type { Files, RemoteFile, Upload } from '../../api/types.ts'
import { nameOf } from '../../path.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'

interface UploadTarget {
  readonly files: Files
  readonly timers: Timers
  readonly path: string
  readonly signal: AbortSignal
}

/** Stores a document at the path. Throws the service's errors; 409 where a document stands there. */
export function storeAt(
  { files, timers, path, signal }: UploadTarget,
  mimetype: Mimetype,
  content: Upload['content'],
): Promise<RemoteFile> {
  const upload = { mimetype, filename: nameOf(path), content }
  return untilAnswered(timers, signal, (cut) => files.upload(path, upload, { signal: cut }))
}

/** The mimetype of a record, where it has one that may be sent. */
export function sendableType(mimetype: string | undefined): Mimetype | undefined {
  return mimetype !== undefined && isMimetype(mimetype) ? mimetype : undefined
}
