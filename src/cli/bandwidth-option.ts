// `--bwlimit`, the same for every command that moves documents.

import { Option } from 'commander'
import { parseRate } from './durations.ts'

export function bandwidthOption(): Option {
  return new Option(
    '--bwlimit <rate>',
    'bytes per second, each way: 500K, 2M; 0 = no limit (default: 0)',
  ).argParser(parseRate)
}
