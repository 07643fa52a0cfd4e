// The judge of what may be under a name, where programs work at the same time.

import { beforeEach, expect, it } from 'vitest'

import { History, type Change } from './history.ts'

let now = 0
let history: History

beforeEach(() => {
  now = 0
  history = new History(() => now)
  for (const id of ['old', 'new', 'other']) history.addContent(id, lines(id, 3))
})

const lines = (id: string, many: number): Buffer =>
  Buffer.from(Array.from({ length: many }, (_, at) => `${id} ${at}`.padEnd(63) + '\n').join(''))

/** A change from one time to another; without an end it goes on. */
function done(
  path: string,
  becomes: Change['becomes'],
  [start, end]: [number, number?],
  how: 'done' | 'in doubt' | 'nothing' = 'done',
  isInPlace = false,
): void {
  now = start
  const change = history.begin({ program: 'p', path, becomes, isInPlace })
  if (end === undefined) return
  now = end
  history.end(change, how)
}
const save = (
  path: string,
  id: string,
  ...more: [[number, number?], ('done' | 'in doubt' | 'nothing')?, boolean?]
): void => done(path, { value: id }, ...more)
const move = (from: string, to: string, time: [number, number?]): void => {
  done(to, { from, orNothing: false }, time)
  done(from, { value: undefined }, time)
}
const isRight = (path: string, bytes: Buffer | undefined, from = 100, to = from): boolean =>
  history.wrong(path, bytes, from, to) === undefined

it('what was saved last is there, and nothing that was saved before it', () => {
  save('/a', 'old', [1, 2])
  save('/a', 'new', [3, 4])
  expect([isRight('/a', lines('new', 3)), isRight('/a', lines('old', 3)), isRight('/a', undefined)]).toEqual([
    true,
    false,
    false,
  ])
  now = 5
  expect(history.certain('/a')).toEqual({ value: 'new' })
})

it('of two at once either is there, and of one that was cut off what was before, too', () => {
  save('/a', 'old', [1, 4])
  save('/a', 'new', [3, 6])
  expect([isRight('/a', lines('new', 3)), isRight('/a', lines('old', 3))]).toEqual([true, true])
  save('/a', 'other', [7, 8])
  save('/a', 'new', [9, 10], 'in doubt')
  expect([
    isRight('/a', lines('new', 3)),
    isRight('/a', lines('other', 3)),
    isRight('/a', lines('old', 3)),
  ]).toEqual([true, true, false])
  expect(history.certain('/a')).toBe('in doubt')
})

it('a save that was refused changed nothing', () => {
  save('/a', 'old', [1, 2])
  save('/a', 'new', [3, 4], 'nothing')
  expect([isRight('/a', lines('new', 3)), isRight('/a', lines('old', 3))]).toEqual([false, true])
})

it('what is saved under a name after it was moved away is not under the new name', () => {
  save('/p', 'old', [1, 2])
  move('/p', '/q', [3, 4])
  save('/p', 'new', [5, 6])
  expect([isRight('/q', lines('old', 3)), isRight('/q', lines('new', 3))]).toEqual([true, false])
  expect([isRight('/p', lines('new', 3)), isRight('/p', undefined)]).toEqual([true, false])
})

it('what is written while its name changes may be under either, also after a later save there', () => {
  save('/p', 'new', [1, 9], 'done', true)
  move('/p', '/q', [3, 4])
  save('/q', 'other', [5, 6])
  expect([
    isRight('/q', lines('new', 3)),
    isRight('/q', lines('other', 3)),
    isRight('/p', lines('new', 3)),
    isRight('/p', undefined),
  ]).toEqual([true, true, true, true])
})

it('two moves at once, each to the place of the other, come to an end', () => {
  save('/p', 'old', [1, 2])
  done('/q', { from: '/p', orNothing: false }, [3, 9])
  done('/p', { from: '/q', orNothing: false }, [4, 8])
  expect(isRight('/q', lines('old', 3))).toBe(true)
})

it('a part, or a mixture, is seen only of what is written in place, while it is, or where it was cut off', () => {
  save('/a', 'old', [1, 2])
  save('/a', 'new', [3, 8], 'done', true)
  const part = lines('new', 3).subarray(0, 100)
  expect([isRight('/a', part, 4, 5), isRight('/a', part, 9), isRight('/a', lines('other', 1), 4, 5)]).toEqual(
    [true, false, false],
  )
  save('/a', 'other', [10, 14], 'done', true)
  save('/a', 'new', [12, 16], 'done', true)
  const mixed = Buffer.concat([lines('other', 1), lines('new', 3).subarray(64)])
  expect([isRight('/a', mixed), isRight('/a', lines('old', 3))]).toEqual([true, false])
})

it('what was seen when all was quiet is what is there', () => {
  save('/a', 'old', [1, 4])
  save('/a', 'new', [2, 5])
  history.settle(new Map([['/a', lines('new', 3)]]))
  now = 6
  expect(history.certain('/a')).toEqual({ value: 'new' })
  expect(isRight('/a', lines('old', 3))).toBe(false)
})
