// Contestants: methods that match a statement, with the settings each is tuned over.

import type { Matches } from './judge.ts'
import type { Statement } from './payments.ts'

export interface Contestant {
  readonly name: string
  /** Every combination of these is tried on the training seeds, for each column on its own. */
  readonly settings: Readonly<Record<string, readonly number[]>>
  /** It takes so long that it is tuned and judged on some of the seeds only. */
  readonly isSlow?: boolean
  /** The part independent of the settings, once per statement. `withReferences` says whether the payer's words count. */
  prepare(
    statement: Statement,
    withReferences: boolean,
  ): (settings: Readonly<Record<string, number>>) => Matches
}

/** A pair somebody thinks alike; the greater the better. */
export interface Pair {
  readonly payment: number
  readonly invoice: number
  readonly score: number
}

/** Each payment and each invoice once, best pairs first. */
export function takeBestFirst(pairs: readonly Pair[], paymentCount: number): Matches {
  const matches: (number | undefined)[] = Array.from({ length: paymentCount }, () => undefined)
  const taken = new Set<number>()
  for (const { payment, invoice } of pairs.toSorted(
    (a, b) => b.score - a.score || a.payment - b.payment || a.invoice - b.invoice,
  )) {
    if (matches[payment] !== undefined || taken.has(invoice)) continue
    matches[payment] = invoice
    taken.add(invoice)
  }
  return matches
}
