// Conflict copies: another client's version, never seen here, is kept under a name of its own before ours takes its name.

import { extname } from 'node:path'
import { ApiError } from '../../api/errors.ts'
import type { Mimetype } from '../../api/mimetypes.ts'
import type { Files, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { lookUp } from '../remote-lookup.ts'
import { areSameDocuments, digestOfStored, storedBytes } from '../digest.ts'
import { cutTo, folderOf, nameMaxBytes, nameOf, pathBelow } from '../../path.ts'
import type { Timers } from '../../world/clock.ts'
import { storeAt, sendableType } from './store-at.ts'

const longestExtensionBytes = 32

/** `report (conflict 2026-11-20 20.45.10 host).pdf`: the time is of *their* version, so that a repetition makes no second copy. */
export function conflictName(name: string, modifiedAt: string | undefined, hostName: string): string {
  const ending = extname(name)
  // A longer ending is a part of the name, and may be cut.
  const extension = Buffer.byteLength(ending) > longestExtensionBytes ? '' : ending
  const stem = name.slice(0, name.length - extension.length)
  const time = modifiedAt === undefined ? Number.NaN : Date.parse(modifiedAt)
  const stamp = new Date(Number.isNaN(time) ? 0 : time)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')
    .replaceAll(':', '.')
  const host = hostName.replaceAll(/[^\p{L}\p{N}.-]+/gu, '-')
  const tail = ` (conflict ${stamp} ${host})${extension}`
  return cutTo(stem, nameMaxBytes - Buffer.byteLength(tail)) + tail
}

/** `report.pdf` of a name that `conflictName` made; undefined for another name, and where the name was too long to be kept whole. */
export function originalName(copy: string): string | undefined {
  const [, stem, extension = ''] = conflictPattern.exec(copy) ?? []
  return stem === undefined || Buffer.byteLength(copy) > nameMaxBytes - longestLetterBytes
    ? undefined
    : stem + extension
}

const conflictPattern = /^(.*) \(conflict \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d [\p{L}\p{N}. -]+\)(\.[^.]*)?$/su
/** A stem that was cut leaves less than one letter free. */
const longestLetterBytes = 4

export interface ConflictCopy {
  readonly files: Files
  readonly timers: Timers
  readonly path: string
  readonly theirs: RemoteFile
  readonly hostName: string
  /** Type of the copy, if their record has none that can be sent. */
  readonly mimetype: Mimetype
  readonly signal: AbortSignal
}

/** Copies their version beside ours: within the service where it accepts its own URL, else through us. Returns the copy's path. */
export async function keepTheirs(copy: ConflictCopy): Promise<string> {
  const { files, path, theirs, hostName, signal } = copy
  for (let count = 1; ; count++) {
    const filename = conflictName(
      nameOf(path),
      theirs.modifiedAt,
      count === 1 ? hostName : `${hostName} ${count}`,
    )
    const target = pathBelow(folderOf(path), filename)
    try {
      await copyTo(copy, target)
      return target
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error
      // Most likely this very version, kept by an earlier attempt that was cut off.
      const standing = await lookUp(files, target, { signal })
      if (standing?.kind !== 'file') continue
      if (await areSameDocuments(files, { path: target, file: standing }, { path, file: theirs }, signal))
        return target
    }
  }
}

async function copyTo(
  { files, timers, path, theirs, mimetype, signal }: ConflictCopy,
  target: string,
): Promise<void> {
  const { url } = theirs
  if (url === undefined)
    throw new ErrnoError('EIO', `${path}: the service gave no download URL for the version to be kept`)
  const type = sendableType(theirs.mimetype) ?? mimetype
  const place = { files, timers, path: target, signal }
  try {
    await storeAt(place, type, { kind: 'uri', url, source: path })
  } catch (error) {
    if (!isUriRefusal(error)) throw error
    const size = theirs.size ?? (await digestOfStored(files, path, theirs, signal)).size
    const open = async function* (): AsyncIterable<Uint8Array> {
      yield* await storedBytes(files, path, { url, size }, signal)
    }
    await storeAt(place, type, { kind: 'bytes', size, open })
  }
}

/**
 * True where the service does not accept this content by `uri` (501: never; 403: not from there, or not with this key): the
 * same bytes may still go through us. If the key may store nothing at all, that upload is refused next.
 */
export function isUriRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'PUT') return false
  const { status } = error
  return status === 501 || (status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status))
}
