// Parsers for durations, sizes and rates on the command line. All throw commander's usage error.

import { InvalidArgumentError } from 'commander'

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const unitsBytes = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
} as const

/** Returns the milliseconds of `500ms`, `30s`, `10m`, `2h` or `0`. */
export function parseDurationMs(text: string): number {
  if (text === '0') return 0
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  if (match === null) throw new InvalidArgumentError('Write a duration like 30s, 500ms or 10m.')
  return Math.round(Number(match[1]) * unitsMs[match[2] as keyof typeof unitsMs])
}

/** As `parseDurationMs`; `forever` is Infinity. */
export function parseWaitMs(text: string): number {
  return text === 'forever' ? Infinity : parseDurationMs(text)
}

/** Returns the bytes of `5GiB`, `100MB`, `4096` or `0`. */
export function parseSizeBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?i?b)?$/i.exec(text)
  const unit = (match?.[2] ?? 'B').toUpperCase()
  const factor = unitsBytes[unit as keyof typeof unitsBytes] as number | undefined
  if (match === null || factor === undefined) {
    throw new InvalidArgumentError('Write a size like 5GiB, 100MB or 0.')
  }
  return Math.round(Number(match[1]) * factor)
}

/** As `parseDurationMs`; also takes whole days: `90d`. */
export function parseLifetimeMs(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1]
  return days === undefined ? parseDurationMs(text) : Number(days) * 24 * unitsMs.h
}

/** Returns the bytes per second of `2M`, `500K` or `1.5MB`; 0 = no limit. A bare K, M or G is KiB, MiB or GiB. */
export function parseRate(text: string): number {
  const size = text.replace(/\/s$/i, '').replace(/([kmg])$/i, '$1iB')
  try {
    return parseSizeBytes(size)
  } catch {
    throw new InvalidArgumentError('Write bytes per second, like 500K, 2M or 0.')
  }
}
