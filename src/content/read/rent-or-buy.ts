// When to fetch the rest of a document that is read here and there: every miss is rent, the rest at once is the price.
// A reader that has paid a price in rent and buys then has paid at most twice what was best, whatever comes (the ski
// rental problem). The rest is bought in pieces as it is paid for, so that it is all here when the rent has reached
// its price. A pure function: no bytes, no I/O, no time.

export interface Account {
  /** Milliseconds that readers waited for blocks nobody had fetched. */
  readonly paidMs: number
  /** How often. */
  readonly misses: number
  /** Milliseconds of the shortest wait. */
  readonly shortestMs: number
}

/** The head and the tail of an archive are looked at, and it is closed: that is no reason to fetch it. */
const leastMisses = 3
/** A shorter wait is for the processors, which buying would take from the reader. A longer way is idle meanwhile. */
const nearMs = 5
/** From near, nothing is bought before so much of the price was paid. */
const nearReserve = 1 / 2

/** Which part of the rest should be on its way, 0…1, where all of it would take `priceMs`. */
export function boughtPart({ paidMs, misses, shortestMs }: Account, priceMs: number): number {
  if (misses < leastMisses) return 0
  const reserve = shortestMs < nearMs ? nearReserve : 0
  return Math.min(1, Math.max(0, (paidMs / priceMs - reserve) / (1 - reserve)))
}
