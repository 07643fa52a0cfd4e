import { describe, expect, test } from 'vitest'
import { engine } from '../../scripts/reconcile-bench/engine.ts'
import { Tally } from '../../scripts/reconcile-bench/judge.ts'
import { makeStatement } from '../../scripts/reconcile-bench/payments.ts'
import { rules } from '../../scripts/reconcile-bench/rules.ts'

// As `scripts/bench-reconcile` tunes them; neither its training seeds nor those it judges by.
const seeds = [501, 502]
const tunedRules = {
  name: 0.5,
  days: 100,
  discount: 0.031,
  fee: 0,
  discountName: 0.7,
  referenceName: 0,
  typos: 0,
}

describe('payments matched with invoices', () => {
  test.each([
    ['with references', true, 0.975],
    ['without references', false, 0.93],
  ])('%s: better than rules made for them', (_, withReferences, least) => {
    const [ours, theirs] = [new Tally(), new Tally()]
    for (const statement of seeds.map(makeStatement)) {
      ours.add(engine.prepare(statement, withReferences)({}), statement.truth)
      theirs.add(rules.prepare(statement, withReferences)(tunedRules), statement.truth)
    }
    expect(ours.f1).toBeGreaterThan(theirs.f1)
    expect(ours.f1).toBeGreaterThan(least)
    expect(ours.precision).toBeGreaterThan(theirs.precision)
  })

  test('of the same seed are the same', () => {
    expect(makeStatement(7)).toEqual(makeStatement(7))
    expect(makeStatement(7)).not.toEqual(makeStatement(8))
  })
})
