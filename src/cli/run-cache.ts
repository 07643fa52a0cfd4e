// Implements `docmount fetch` and `docmount cache`.

import { CommandError } from './command-error.ts'
import type { CacheStatus } from '../fs/pins/pin-status.ts'
import { formatBytes } from '../amounts.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { printable } from '../printable.ts'
import { print } from './output.ts'
import { countOf, noRoomLine } from './pin-text.ts'
import { startProgress } from './progress.ts'

export async function runFetch(path: string, options: { json?: boolean }): Promise<void> {
  const place = await findDrive(path)
  const progress = startProgress(path)
  const answer = await askDrive(
    place.found,
    'fetch',
    { path: place.path },
    {
      signal: interruptSignal(),
      onProgress: ({ bytes, bytesHere }) => progress.set(bytesHere, bytes),
    },
  ).finally(() => progress.end())
  if (answer.kind === 'no-room') throw new CommandError(noRoomLine(path, answer))
  const { documents, bytes, fetchedDocuments, fetchedBytes, problems } = answer
  const alreadyHere = documents - fetchedDocuments - problems.length
  print(
    options,
    answer,
    `${printable(path)}: ${countOf(documents)} (${formatBytes(bytes)}), ` +
      `${fetchedDocuments} fetched (${formatBytes(fetchedBytes)} through the network), ${Math.max(0, alreadyHere)} here before`,
  )
  if (problems.length === 0) return
  for (const problem of problems.slice(0, 10)) console.error(`docmount: ${printable(problem)}`)
  if (problems.length > 10) console.error(`docmount: and ${problems.length - 10} more`)
  process.exitCode = exitCodes.temporary
}

export async function runCache(mountpoint: string | undefined, options: { json?: boolean }): Promise<void> {
  const { found } = await findDrive(mountpoint)
  const cache = await askDrive(found, 'cache', {})
  print(
    options,
    { mountpoint: found.mountpoint, ...cache },
    `${found.mountpoint}  ${cache.dir}\n${describe(cache)}`,
  )
}

export async function runClearCache(
  mountpoint: string | undefined,
  options: { withPinned: boolean; json: boolean },
): Promise<void> {
  const { found } = await findDrive(mountpoint)
  const removed = await askDrive(found, 'clearCache', { withPinned: options.withPinned })
  const { cachedBytes, cachedDocuments, pinnedBytes, pinnedDocuments } = removed
  const pinned = `${countOf(pinnedDocuments)} (${formatBytes(pinnedBytes)})`
  print(
    options,
    removed,
    `removed ${countOf(cachedDocuments)} (${formatBytes(cachedBytes)}) from the cache` +
      (options.withPinned
        ? `, and ${pinned} that are pinned: they are fetched anew`
        : pinnedDocuments > 0
          ? `; ${pinned} stay, since they are pinned`
          : ''),
  )
}

function describe(cache: CacheStatus): string {
  const rows = [
    ['cached', cache.cachedBytes, cache.cacheSizeBytes, cache.cachedDocuments],
    ['pinned', cache.pinnedBytes, cache.pinSizeBytes, cache.pinnedDocuments],
  ] as const
  return rows
    .map(
      ([what, bytes, bound, documents]) =>
        `  ${what}  ${formatBytes(bytes)} of ${formatBytes(bound)}  ${countOf(documents)}`,
    )
    .join('\n')
}
