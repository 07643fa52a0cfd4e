// Matching by rules written by hand for exactly this data, to compare the engine with. They know the fields' meanings, and that
// payments follow invoices. The reference decides first, then amount, name and days.

import { distance } from 'fastest-levenshtein'
import type { Matches } from './judge.ts'
import { amountIn, dayIn, plain } from './read.ts'
import type { Statement } from './statement.ts'

const likeness = (a: string, b: string): number => 1 - distance(a, b) / Math.max(a.length, b.length, 1)

/** Returns the best likeness (0 … 1) of names, their beginnings (banks cut names) and sorted words, without legal forms. */
function nameLikeness(a: string, b: string): number {
  const bare = (name: string): string =>
    plain(name)
      .replace(/ (gmbh co kg|gmbh|ag|kg|e k|ek|ug|ohg|ltd|sarl)$/, '')
      .replace(/^(fa|firma|c o) /, '')
  const [x, y] = [bare(a), bare(b)]
  const sorted = (text: string): string => text.split(' ').toSorted().join(' ')
  const length = Math.min(x.length, y.length)
  const cut = length >= 5 ? likeness(x.slice(0, length), y.slice(0, length)) * 0.98 : 0
  return Math.max(likeness(x, y), likeness(sorted(x), sorted(y)), cut)
}

/** Settings with the best F1 on six training seeds, of 2,160 combinations. */
const settings = { name: 0.5, days: 100, discount: 0.031, discountName: 0.7 }

export function matchByRules({ invoices, payments }: Statement, withReferences: boolean): Matches {
  const ledger = invoices.map((invoice) => ({
    digits: plain(invoice.invoice_number).replaceAll(' ', ''),
    last: String(Number(invoice.invoice_number.split('-').at(-1))),
    day: dayIn(invoice.date),
    ...invoice,
  }))
  const possible = payments.flatMap((payment, at) => {
    const reference = withReferences ? plain(payment.invoice_number).replaceAll(' ', '') : ''
    const words = withReferences
      ? plain(payment.invoice_number)
          .split(' ')
          .map((word) => word.replace(/^0+/, ''))
      : []
    const amount = amountIn(payment.amount)
    const day = dayIn(payment.date)
    return ledger.flatMap((invoice, number) => {
      const gap = Math.abs(amount - invoice.amount)
      const isNamed = reference !== '' && reference.includes(invoice.digits)
      const isNumbered = words.includes(invoice.last)
      // Such a pair would match no rule below.
      if (!isNamed && !isNumbered && gap > invoice.amount * settings.discount && gap >= 0.005) return []
      return {
        payment: at,
        invoice: number,
        isNamed,
        isNumbered,
        gap,
        share: gap / invoice.amount,
        late: day - invoice.day,
        name: nameLikeness(payment.customer, invoice.customer),
      }
    })
  })
  const pairs: Pair[] = []
  for (const candidate of possible) {
    const isInTime = candidate.late >= 0 && candidate.late <= settings.days
    const order = candidate.name - Math.abs(candidate.late - 20) / 1000
    if (candidate.isNamed) pairs.push({ ...candidate, score: 10 + order })
    else if (candidate.isNumbered && (candidate.gap < 0.01 || candidate.name > 0.8))
      pairs.push({ ...candidate, score: 8 + order })
    else if (candidate.gap < 0.005 && candidate.name >= settings.name && isInTime)
      pairs.push({ ...candidate, score: 6 + order })
    else if (candidate.share <= settings.discount && candidate.name >= settings.discountName && isInTime)
      pairs.push({ ...candidate, score: 4 + order })
  }
  return takeBestFirst(pairs, payments.length)
}

/** A possible match; a greater score is better. */
interface Pair {
  readonly payment: number
  readonly invoice: number
  readonly score: number
}

/** Takes pairs in the order of their scores, each payment and each invoice once. */
function takeBestFirst(pairs: readonly Pair[], paymentCount: number): Matches {
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
