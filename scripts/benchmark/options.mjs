// Command line of the benchmark.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const usage = `usage: scripts/bench [--quick] [--only WORKLOAD[,…]] [--peers NAME[,…]] [--delays 0,20] [--rounds N] [--mbit N]
                     [--limit SECONDS] [--out FOLDER] [--publish] [--keep]
       scripts/bench --costs [--quick] [--names N] [--publish]
  --quick    a fifth of the data, one round
  --rows     (or --only) groups of workloads: list flat sequential random random-8 stride heads grep copy-in write save-over
             save-over-small random-cached
  --peers    docmount and any of: rclone sshfs s3fs davfs2 undici memory (default: all that are installed)
  --delays   milliseconds of a round trip
  --mbit     megabits per second each way, for all connections together (default: no limit)
  --limit    seconds until a row of a peer is given up, in all rounds (default: 60)
  --out      where the table, the JSON and the chart go (default: bench-results/)
  --publish  also to docs/bench, and the table into docs/performance.md`

/** Ends the process with the usage where the arguments make no sense. */
export function readOptions(args) {
  let values
  try {
    values = parseArgs({
      args,
      options: {
        quick: { type: 'boolean', default: false },
        publish: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        only: { type: 'string' },
        rows: { type: 'string' },
        mbit: { type: 'string' },
        limit: { type: 'string', default: '60' },
        peers: { type: 'string' },
        delays: { type: 'string', default: '0,20' },
        rounds: { type: 'string' },
        out: { type: 'string', default: 'bench-results' },
      },
    }).values
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
  const list = (text) => text?.split(',').filter((word) => word !== '')
  const delaysMs = list(values.delays).map(Number)
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3))
  const limitSeconds = Number(values.limit)
  if (delaysMs.some((ms) => !(ms >= 0)) || !(rounds >= 1) || !(limitSeconds > 0)) {
    console.error(usage)
    process.exit(2)
  }
  return {
    isQuick: values.quick,
    isKept: values.keep,
    isPublished: values.publish,
    groups: list(values.rows ?? values.only),
    megabits: values.mbit === undefined ? undefined : Number(values.mbit),
    peers: list(values.peers),
    delaysMs,
    rounds,
    out: resolve(values.out),
    limitSeconds,
  }
}
