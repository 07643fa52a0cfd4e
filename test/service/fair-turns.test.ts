// Turns for work that takes long: nobody has all places, and nobody fills the queue.

import { expect, test } from 'vitest'
import { FairTurns } from '../../src/service/tables/fair-turns.ts'

const never = new AbortController().signal
const tooMany = (): Error => new Error('too many')

/** Work that ends when it is told to, by its label. */
function bench(places: number, most = 100) {
  const turns = new FairTurns(places, most, tooMany)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const outcomes = new Map<string, string>()
  return {
    begun,
    outcomes,
    turns,
    add: (name: string, label: string, signal: AbortSignal = never): void => {
      turns
        .take(
          name,
          () => {
            begun.push(label)
            return new Promise<void>((resolve) => ends.set(label, resolve))
          },
          signal,
        )
        .then(
          () => outcomes.set(label, 'done'),
          (error: Error) => outcomes.set(label, error.message),
        )
    },
    end: async (label: string): Promise<void> => {
      ends.get(label)!()
      await settled()
    },
  }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('go round among those who wait, in the order in which they came', async () => {
  const { add, begun, end } = bench(1)
  for (const label of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) add(label[0]!, label)
  await settled()
  for (let at = 0; at < 6; at++) await end(begun[at]!)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

test('keep the last place for who has none', async () => {
  const { add, begun, end } = bench(3)
  for (const label of ['a1', 'a2', 'a3', 'a4']) add('a', label)
  await settled()
  expect(begun).toEqual(['a1', 'a2'])
  add('b', 'b1')
  await settled()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await end('b1')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('refuse the latest of who has most waiting, and who comes where nobody has more', async () => {
  const { add, outcomes } = bench(1, 4)
  for (const label of ['a1', 'a2', 'a3', 'a4', 'a5']) add('a', label)
  add('a', 'a6')
  await settled()
  expect([...outcomes]).toEqual([['a6', 'too many']])
  add('b', 'b1')
  add('b', 'b2')
  await settled()
  expect([...outcomes.keys()]).toEqual(['a6', 'a5', 'a4'])
  add('b', 'b3')
  await settled()
  expect([...outcomes.keys()]).toEqual(['a6', 'a5', 'a4', 'b3'])
})

test('are left by who gives up, and by work that fails', async () => {
  const { add, begun, end, outcomes, turns } = bench(1)
  const over = new AbortController()
  const failed = turns.take('a', () => Promise.reject(new Error('a failure')), never)
  add('b', 'b1')
  add('a', 'a1', over.signal)
  add('c', 'c1')
  await expect(failed).rejects.toThrow('a failure')
  over.abort(new Error('enough'))
  await settled()
  await end('b1')
  expect(begun).toEqual(['b1', 'c1'])
  expect([...outcomes]).toEqual([
    ['a1', 'enough'],
    ['b1', 'done'],
  ])
  await expect(turns.take('a', () => Promise.resolve(), over.signal)).rejects.toThrow('enough')
})
