// Messages about pins.

import type { NoRoom, PinStatus } from '../fs/pins/pin-status.ts'
import { formatBytes } from '../amounts.ts'
import { printable } from '../printable.ts'

/** Returns `/reports  pinned, 12 of 14 documents here (3.1 MiB of 3.4 MiB): the service is away` */
export function pinLine(pin: PinStatus): string {
  const why = pin.problem === undefined ? '' : `: ${pin.problem}`
  return printable(`${pin.path}  pinned, ${pinProgress(pin)}${why}`)
}

/** Returns `all 14 documents here (3.4 MiB)` */
export function pinProgress({ state, documents, documentsHere, bytes, bytesHere }: PinStatus): string {
  if (state === 'waiting') return 'not looked at yet'
  if (state === 'here') return `${countOf(documents)} here (${formatBytes(bytes)})`
  return `${documentsHere} of ${countOf(documents)} here (${formatBytes(bytesHere)} of ${formatBytes(bytes)})`
}

/** Message if a pin or fetch is refused because the disk, or its share for pins or cache, is too small. */
export function noRoomLine(
  path: string,
  { documents, needBytes, freeBytes, sizeBytes, bound }: NoRoom,
): string {
  const needs = `${printable(path)} needs ${formatBytes(needBytes)} on disk (${countOf(documents)})`
  const free = formatBytes(freeBytes)
  switch (bound) {
    case 'pin-size':
      return `${needs}; of the ${formatBytes(sizeBytes)} for pins ${free} are free: unpin something, or mount with a larger --pin-size`
    case 'cache-size':
      return `${needs}; the cache holds ${formatBytes(sizeBytes)}: mount with a larger --cache-size, or pin it`
    case 'disk':
      return `${needs}; the disk of the cache folder has ${free} free`
  }
}

export function countOf(documents: number): string {
  return documents === 1 ? '1 document' : `${documents} documents`
}
