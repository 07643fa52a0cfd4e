// The state of a path in the service, decided without guessing from an error code: the interface does not say how a
// missing path is answered, so a refusal is checked against the parent's listing.

import { ApiError, isOnlyAccepted } from '../api/errors.ts'
import type { CallOptions, Files, FolderListing, RemoteFile } from '../api/types.ts'
import { ErrnoError } from '../errno-error.ts'
import { folderOf, nameOf } from '../path.ts'
import { sleep, type Timers } from '../world/clock.ts'
import { agrees } from './fingerprint.ts'

/** The record at a path, or undefined where nothing is. Throws ApiError (401, 403, 429, 5xx), NetworkError, EIO for a contradiction. */
export async function lookUp(
  files: Files,
  path: string,
  options?: CallOptions,
): Promise<RemoteFile | FolderListing | undefined> {
  try {
    return await files.get(path, options)
  } catch (error) {
    if (!mayMeanMissing(error) || path === '/') throw error
    const parent = await lookUp(files, folderOf(path), options)
    if (parent?.kind !== 'folder') return undefined
    const name = nameOf(path)
    return parent.entries.some((entry) => entry.name === name) ? listed(files, path, options) : undefined
  }
}

/** It was not there before it was listed, and may have come in between; our own upload of another document makes its folder anew. */
async function listed(
  files: Files,
  path: string,
  options: CallOptions | undefined,
): Promise<RemoteFile | FolderListing> {
  try {
    return await files.get(path, options)
  } catch (error) {
    if (!mayMeanMissing(error)) throw error
    // A listing that lags behind: no answer, to be asked again.
    throw new ErrnoError('EIO', `${path}: the service lists it and does not have it`, { cause: error })
  }
}

/** A delete that a service has only accepted may take so long (ms). */
const carriedOutWithinMs = 30_000
const firstLookMs = 100
const longestLookMs = 2_000

/**
 * A DELETE was refused, or only accepted: what is gone is what was asked for, whoever did it. Throws where it is not, what was accepted
 * only after a while: until then it may take what comes next with it.
 */
export async function checkGone(
  files: Files,
  path: string,
  refusal: unknown,
  { timers, ...options }: CallOptions & { readonly timers: Timers },
): Promise<void> {
  if (isOnlyAccepted(refusal)) return await untilGone(files, path, refusal, { timers, ...options })
  if (!mayMeanMissing(refusal)) throw refusal
  if ((await lookUp(files, path, options)) === undefined) return
  if (!(refusal instanceof ApiError) || refusal.status !== 404) throw refusal
  // A PUT that the service was still working on landed behind our DELETE: no refusal, a matter of trying again.
  throw new ErrnoError('EIO', `${path}: gone, and there again`, { cause: refusal })
}

async function untilGone(
  files: Files,
  path: string,
  accepted: ApiError,
  { timers, ...options }: CallOptions & { readonly timers: Timers },
): Promise<void> {
  let waitMs = firstLookMs
  for (let waitedMs = 0; waitedMs < carriedOutWithinMs; waitedMs += waitMs) {
    if ((await lookUp(files, path, options)) === undefined) return
    waitMs = Math.min(longestLookMs, 2 * waitMs)
    await sleep(timers, waitMs, options.signal === undefined ? {} : { signal: options.signal })
  }
  throw accepted
}

/** A 4xx that is about the path and not about the caller. */
export function mayMeanMissing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.status >= 400 &&
    error.status < 500 &&
    ![401, 403, 408, 429].includes(error.status)
  )
}

/** An answer that does not tell the version (interface: optional) says nothing to compare with later: the document is asked. */
export async function whole(
  files: Files,
  path: string,
  record: RemoteFile,
  signal: AbortSignal,
): Promise<RemoteFile> {
  if (record.size !== undefined && record.modifiedAt !== undefined) return record
  const found = await lookUp(files, path, { signal }).catch(() => undefined)
  return found?.kind === 'file' && agrees(record, found) ? found : record
}
