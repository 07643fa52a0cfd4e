// Decides when to fetch the rest of a document that is read here and there (the ski rental problem): the wait for each missing
// block is rent, the time to fetch the whole rest is the price. A reader that buys once its rent has reached the price has paid
// at most twice the optimum, whatever it reads later. The rest is bought in pieces, as rent is paid, so that all of it is here
// when the rent has reached the price. A pure function: no bytes, no I/O, no time.

export interface Account {
  /** Time that readers waited for missing blocks (ms). */
  readonly paidMs: number
  /** Number of such waits. */
  readonly misses: number
  /** The shortest wait (ms). */
  readonly shortestMs: number
}

/** Fewer misses are no reason to fetch a document: programs read the head and tail of an archive, and close it. */
const leastMisses = 3
/** A shorter wait (ms) is mostly processor time, which buying would take from the reader; on a longer one the link is idle. */
const nearMs = 5
/** With such short waits, nothing is bought before this part of the price was paid. */
const nearReserve = 1 / 2

/** Returns the part of the rest that should be fetched by now, 0…1; `priceMs`: time to fetch all of it. */
export function boughtPart({ paidMs, misses, shortestMs }: Account, priceMs: number): number {
  if (misses < leastMisses) return 0
  const reserve = shortestMs < nearMs ? nearReserve : 0
  return Math.min(1, Math.max(0, (paidMs / priceMs - reserve) / (1 - reserve)))
}
