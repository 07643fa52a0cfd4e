// Limits the growth of V8's heap: a drive runs for weeks beside other programs, so garbage is collected sooner than by default.
// `ls -lR` over a million names takes 291 MiB with it, and 451 without (docs/performance.md). A lower limit for small
// heaps would cause a full collection for every few megabytes that are received.

import { PerformanceObserver, constants } from 'node:perf_hooks'
import type { NodeGCPerformanceDetail, PerformanceEntry } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Least growth between two full collections, in percent of the heap in use. */
const leastPercent = 40
/** Least growth in bytes, received data included. */
const leastBytes = 32 * 1024 ** 2

let collections: PerformanceObserver | undefined

/** Sets the limit for the whole process, and again after each full collection. */
export function keepHeapModest(): void {
  setGrowth()
  collections ??= new PerformanceObserver((list) => {
    if (list.getEntries().some(isFull)) setGrowth()
  })
  collections.observe({ entryTypes: ['gc'] })
}

/** Returns the growth until the next full collection, in percent of the heap in use. */
export function growingPercent(usedBytes: number): number {
  return Math.max(leastPercent, Math.round((leastBytes / usedBytes) * 100))
}

/** V8 reads it at the end of each full collection. */
function setGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent(getHeapStatistics().used_heap_size)}`)
}

function isFull(collection: PerformanceEntry): boolean {
  const { detail } = collection as PerformanceEntry & { detail?: NodeGCPerformanceDetail }
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
