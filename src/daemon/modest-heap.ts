// A drive runs for weeks beside everything else: its collector takes the memory of garbage back sooner than in a program of
// its own machine. `ls -lR` over a million names needs 291 MiB by this, and 451 without (docs/performance.md).
// Not too soon either: what is received counts as garbage, and a small heap that may grow by little is looked through from end
// to end for every few megabytes that are read.

import { PerformanceObserver, constants } from 'node:perf_hooks'
import type { NodeGCPerformanceDetail, PerformanceEntry } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** How much of what is in use is allocated until the collector looks again. */
const leastPercent = 40
/** Bytes allocated at least until then, received ones included. */
const leastBytes = 32 * 1024 ** 2

let collections: PerformanceObserver | undefined

/** For the whole process, from now on. */
export function keepHeapModest(): void {
  setGrowth()
  collections ??= new PerformanceObserver((list) => {
    if (list.getEntries().some(isFull)) setGrowth()
  })
  collections.observe({ entryTypes: ['gc'] })
}

/** How much a heap may grow until it is looked through, in percent of what is in use. */
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
