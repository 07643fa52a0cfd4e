import { describe, expect, test } from 'vitest'
import { matchByEngine } from '../support/payments/engine.ts'
import { Tally } from '../support/payments/judge.ts'
import { matchByRules } from '../support/payments/rules.ts'
import { makeStatement } from '../support/payments/statement.ts'

// Neither the seeds that the rules were tuned on nor those that `scripts/bench reconcile` judges by.
const seeds = [501, 502]

describe('payments matched with invoices', () => {
  test.each([
    ['with references', true, 0.975],
    ['without references', false, 0.93],
  ])('%s: better than rules made for them', (_, withReferences, least) => {
    const [ours, theirs] = [new Tally(), new Tally()]
    for (const statement of seeds.map(makeStatement)) {
      ours.add(matchByEngine(statement, withReferences), statement.truth)
      theirs.add(matchByRules(statement, withReferences), statement.truth)
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
