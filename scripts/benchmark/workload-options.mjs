// The command line of a benchmark that compares work trees: which workloads, how often, and which trees.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** `options`: those beside --only, --rounds and --delay. Ends the process on what it does not know, and for who is not root. */
export function readWorkloadOptions({ usage, workloads, only, options }) {
  let parsed
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string', default: only },
        rounds: { type: 'string', default: '3' },
        delay: { type: 'string', default: '0' },
        ...options,
      },
    })
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
  const { values, positionals } = parsed
  const chosen = values.only.split(',')
  const unknown = chosen.find((name) => workloads[name] === undefined)
  if (unknown !== undefined) {
    console.error(`${unknown}: no such workload; there are ${Object.keys(workloads).join(', ')}\n${usage}`)
    process.exit(2)
  }
  if (process.getuid() !== 0) {
    console.error("This mounts, and drops the kernel's caches: run it as root.")
    process.exit(1)
  }
  const roots = (positionals.length > 0 ? positionals : ['.']).map((root) => resolve(root))
  return { values, chosen, roots }
}
