// A drive runs for weeks beside everything else: its collector takes the memory of garbage back sooner than in a program of
// its own machine. `ls -lR` over a million names needs 291 MiB by this, and 451 without (docs/performance.md).

import { setFlagsFromString } from 'node:v8'

/** How much of what is in use is allocated until the collector looks again. */
const growingPercent = 40

/** For the whole process. */
export function keepHeapModest(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`)
}
