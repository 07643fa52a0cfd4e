// Returns unused memory to the machine: an idle program allocates nothing, so its garbage collector would not run for a long
// time.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/** Runs a full garbage collection: about a tenth of a second for each 100 MiB in use. */
export function giveBack(): void {
  if (collect === undefined) {
    // Node has no other access to its collector.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
    setFlagsFromString('--no-expose-gc')
  }
  collect()
}
