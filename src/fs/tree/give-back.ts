// Memory that nobody needs any more goes back to the machine: an idle program allocates nothing, so its collector would not
// look for a long time.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/** Collects garbage, all of it: about a tenth of a second for each 100 MiB in use. */
export function giveBack(): void {
  if (collect === undefined) {
    // Node has no other door to its collector.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
    setFlagsFromString('--no-expose-gc')
  }
  collect()
}
