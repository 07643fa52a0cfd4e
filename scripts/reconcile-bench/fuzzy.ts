// The two ways a program is written in an afternoon: a fuzzy search library, and edit distance over the whole row.

import { distance } from 'fastest-levenshtein'
import Fuse from 'fuse.js'
import { type Contestant, type Pair, takeBestFirst } from './contestants.ts'
import { amountIn, dayIn, lineOf, plain } from './read.ts'

/** Every field searched on its own, the scores weighted and added. */
export const fuse: Contestant = {
  name: 'fuse.js',
  isSlow: true,
  settings: {
    least: [0.5, 0.6, 0.65, 0.7, 0.75, 0.8],
    name: [0.5, 1],
    reference: [0.5, 1],
    date: [0.25, 0.5, 1],
  },
  prepare({ invoices, payments }, withReferences) {
    const rows = invoices.map((invoice) => ({
      reference: plain(invoice.invoice_number).replaceAll(' ', ''),
      customer: plain(invoice.customer),
      amount: invoice.amount.toFixed(2),
      date: new Date(dayIn(invoice.date) * 86_400_000).toISOString().slice(0, 10),
    }))
    const fields = ['reference', 'customer', 'amount', 'date'] as const
    const searches = new Map(
      fields.map((field) => [
        field,
        new Fuse(
          rows.map((row) => row[field]),
          { includeScore: true, ignoreLocation: true, threshold: 0.6 },
        ),
      ]),
    )
    const found = payments.map((payment) => {
      const asked = {
        reference: withReferences ? plain(payment.invoice_number).replaceAll(' ', '') : '',
        customer: plain(payment.customer),
        amount: amountIn(payment.amount).toFixed(2),
        date: new Date(dayIn(payment.date) * 86_400_000).toISOString().slice(0, 10),
      }
      return fields.map((field): [string, Map<number, number>] => {
        const scores = new Map<number, number>()
        if (asked[field] !== '')
          for (const { refIndex, score = 1 } of searches.get(field)!.search(asked[field].slice(0, 32)))
            scores.set(refIndex, 1 - score)
        return [field, scores]
      })
    })
    return (settings) => {
      const weights: Record<string, number> = {
        reference: settings['reference']!,
        customer: settings['name']!,
        amount: 1,
        date: settings['date']!,
      }
      const pairs: Pair[] = []
      for (const [payment, byField] of found.entries()) {
        const sums = new Float64Array(rows.length)
        let total = 0
        for (const [field, scores] of byField) {
          if (scores.size === 0) continue
          total += weights[field]!
          for (const [invoice, score] of scores) sums[invoice]! += score * weights[field]!
        }
        for (const [invoice, sum] of sums.entries())
          if (sum / total >= settings['least']!) pairs.push({ payment, invoice, score: sum / total })
      }
      return takeBestFirst(pairs, payments.length)
    }
  },
}

export const wholeRow: Contestant = {
  name: 'whole-row Levenshtein',
  settings: { least: Array.from({ length: 26 }, (_, at) => 0.45 + at * 0.02) },
  prepare({ invoices, payments }, withReferences) {
    const rows = invoices.map((invoice) => lineOf(invoice, withReferences))
    const pairs = payments.flatMap((row, payment) => {
      const line = lineOf(row, withReferences)
      return rows.map((other, invoice): Pair => {
        const score = 1 - distance(line, other) / Math.max(line.length, other.length)
        return { payment, invoice, score }
      })
    })
    const possible = pairs.filter(({ score }) => score >= 0.45)
    return (settings) =>
      takeBestFirst(
        possible.filter(({ score }) => score >= settings['least']!),
        payments.length,
      )
  },
}
