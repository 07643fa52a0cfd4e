// Chance that replays: the same seed gives the same run of numbers.

export interface Chance {
  /** 0 … 1, as Math.random. */
  readonly random: () => number
  /** A whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number
  readonly pick: <T>(values: readonly T[]) => T
  /** One of the keys, each as likely as its weight says. */
  readonly weighted: <K extends string>(weights: Readonly<Record<K, number>>) => K
  /** Text: what begins as no document would be refused under a name that tells no type. */
  readonly bytes: (length: number) => Buffer
}

/** Printable ASCII. */
const first = 0x20
const count = 95

/** Mulberry32: small, fast, good enough for tests. */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  function random(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(random() * limit)
  return {
    random,
    below,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) if ((left -= weight) < 0) return key
      return (entries.at(-1) as (typeof entries)[number])[0]
    },
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4))
      for (let at = 0; at < words.length; at++) words[at] = random() * 2 ** 32
      const bytes = Buffer.from(words.buffer, 0, length)
      for (let at = 0; at < length; at++) bytes[at] = first + ((bytes[at] ?? 0) % count)
      return bytes
    },
  }
}
