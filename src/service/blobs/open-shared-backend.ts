// Chooses the storage for the larger contents of a shared store: a bucket or a folder.

import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { SharedPlace } from '../store/opened-store.ts'
import type { SharedBackend } from './backend.ts'
import { openSharedFolder } from './shared-folder.ts'

/** `now`: epoch milliseconds, by the clock that all nodes share. Throws a StartError where there is no storage. */
export async function openSharedBackend(
  { dataDir, blobs }: SharedPlace,
  now: () => number,
): Promise<SharedBackend> {
  if (blobs !== undefined) return (await import('./s3/s3-backend.ts')).openS3Backend(blobs, now)
  if (dataDir === undefined) throw new StartError('contents need a place: a data folder, or a bucket')
  return openSharedFolder(join(dataDir, 'blobs'))
}
