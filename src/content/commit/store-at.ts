// One upload of a whole document under the name of its path, seen through to its answer, and the type a copy is sent as.

import { isMimetype, type Mimetype } from '../../api/mimetypes.ts'
import type { Files, RemoteFile, Upload } from '../../api/types.ts'
import { nameOf } from '../../path.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'

interface Place {
  readonly files: Files
  readonly timers: Timers
  readonly path: string
  readonly signal: AbortSignal
}

/** Throws what the service says; 409 where something stands there. */
export function storeAt(
  { files, timers, path, signal }: Place,
  mimetype: Mimetype,
  content: Upload['content'],
): Promise<RemoteFile> {
  const upload = { mimetype, filename: nameOf(path), content }
  return untilAnswered(timers, signal, (cut) => files.upload(path, upload, { signal: cut }))
}

/** The type of what is copied, where that is told and may be sent. */
export function toldType(told: string | undefined): Mimetype | undefined {
  return told !== undefined && isMimetype(told) ? told : undefined
}
