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
    return parent.entries.some((entry) => entry.name === name) ? getListed(files, path, options) : undefined
  }
}

/** Asks again for a path that the parent lists: it may just have appeared, as a folder does with our own upload into it. */
async function getListed(
  files: Files,
  path: string,
  options: CallOptions | undefined,
): Promise<RemoteFile | FolderListing> {
  try {
    return await files.get(path, options)
  } catch (error) {
    if (!mayMeanMissing(error)) throw error
    // The listing lags behind, so nothing is decided: the caller tries again later.
    throw new ErrnoError('EIO', `${path}: the service lists it and does not have it`, { cause: error })
  }
}

/** Longest wait for a delete that the service has accepted but not yet carried out (ms). */
const carriedOutWithinMs = 30_000
const firstCheckMs = 100
const longestCheckMs = 2_000

/**
 * Returns if the path is gone after its DELETE was refused or only accepted, whoever deleted it. Otherwise throws the refusal,
 * or EIO where trying again may help. Waits for an accepted DELETE first: it could still delete the next version stored there.
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
  // A PUT that the service was still working on took effect after our DELETE: no refusal, so it is worth trying again.
  throw new ErrnoError('EIO', `${path}: gone, and there again`, { cause: refusal })
}

async function untilGone(
  files: Files,
  path: string,
  accepted: ApiError,
  { timers, ...options }: CallOptions & { readonly timers: Timers },
): Promise<void> {
  let waitMs = firstCheckMs
  for (let waitedMs = 0; waitedMs < carriedOutWithinMs; waitedMs += waitMs) {
    if ((await lookUp(files, path, options)) === undefined) return
    waitMs = Math.min(longestCheckMs, 2 * waitMs)
    await sleep(timers, waitMs, options.signal === undefined ? {} : { signal: options.signal })
  }
  throw accepted
}

/** True for a 4xx that is about the path, not about the caller (401, 403) or the load (408, 429). */
export function mayMeanMissing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.status >= 400 &&
    error.status < 500 &&
    ![401, 403, 408, 429].includes(error.status)
  )
}

/** Returns the record with size and time: if one is absent (interface: optional), looks it up, as far as that succeeds. */
export async function completeRecord(
  files: Files,
  path: string,
  record: RemoteFile,
  signal: AbortSignal,
): Promise<RemoteFile> {
  if (record.size !== undefined && record.modifiedAt !== undefined) return record
  const found = await lookUp(files, path, { signal }).catch(() => undefined)
  return found?.kind === 'file' && agrees(record, found) ? found : record
}
