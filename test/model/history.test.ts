// The judge of what may be under a name, where programs work at the same time.

import { beforeEach, expect, it } from 'vitest'

import { chance, type Chance } from './chance.ts'
import { History, type Change, type Value } from './history.ts'

interface Planned extends Pick<Change, 'path' | 'becomes' | 'isInPlace' | 'start' | 'end'> {
  readonly how: 'done' | 'in doubt' | 'nothing'
}

let plan: Planned[] = []
let now = 0

beforeEach(() => {
  plan = []
})

const ids = ['old', 'new', 'other']
const words = new Map(ids.map((id) => [id, Buffer.from(id)]))
const lines = (id: string, many: number): Buffer =>
  Buffer.from(Array.from({ length: many }, (_, at) => `${id} ${at}`.padEnd(63) + '\n').join(''))

const threeLines = new Map(ids.map((id) => [id, lines(id, 3)]))

/** All that is planned happens, in the order of time. */
function played(planned: readonly Planned[] = plan, contents = threeLines): History {
  const history = new History(() => now)
  for (const [id, bytes] of contents) history.addContent(id, bytes)
  const begun = new Map<Planned, Change>()
  const events = planned.flatMap((change) => [
    { at: change.start, happen: () => begun.set(change, history.begin({ program: 'p', ...change })) },
    { at: change.end, happen: () => history.end(begun.get(change) as Change, change.how) },
  ])
  for (const { at, happen } of events.filter(({ at }) => at !== Infinity).sort((x, y) => x.at - y.at)) {
    now = at
    happen()
  }
  return history
}

/** A change from one time to another; without an end it goes on. */
function done(
  path: string,
  becomes: Change['becomes'],
  [start, end = Infinity]: [number, number?],
  how: Planned['how'] = 'done',
  isInPlace = false,
): void {
  plan.push({ path, becomes, start, end, how, isInPlace })
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
  played().wrong(path, bytes, from, to) === undefined

it('what was saved last is there, and nothing that was saved before it', () => {
  save('/a', 'old', [1, 2])
  save('/a', 'new', [3, 4])
  expect([isRight('/a', lines('new', 3)), isRight('/a', lines('old', 3)), isRight('/a', undefined)]).toEqual([
    true,
    false,
    false,
  ])
  expect(played().certain('/a')).toEqual({ value: 'new' })
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
  expect(played().certain('/a')).toBe('in doubt')
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

it('who reads on while its name changes may read what is written in place under the new one, and nobody later', () => {
  save('/p', 'old', [1, 2])
  move('/p', '/q', [3, 4])
  save('/q', 'new', [5, 6], 'done', true)
  save('/q', 'other', [7, 8])
  const by = (id: string, from: number, to: number): boolean => isRight('/p', lines(id, 3), from, to)
  expect([by('new', 2.5, 6), by('new', 4.5, 6), by('other', 2.5, 9)]).toEqual([true, false, false])
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
  const history = played()
  history.settle(new Map([['/a', lines('new', 3)]]))
  now = 6
  expect(history.certain('/a')).toEqual({ value: 'new' })
  expect(history.wrong('/a', lines('old', 3), 6)).toMatch(/it may be: new$/)
})

it('a move that is under way takes a value along once, not again when another move has brought it back', () => {
  save('/p', 'old', [0, 1])
  move('/p', '/q', [2, 11])
  move('/q', '/p', [3, 10])
  save('/p', 'new', [4, 5])
  save('/q', 'other', [6, 7])
  expect([
    isRight('/q', lines('old', 3), 5, 6),
    isRight('/p', lines('old', 3)),
    isRight('/q', lines('old', 3)),
  ]).toEqual([true, true, false])
})

it('a save that was lost is told, however many programs moved and copied meanwhile', () => {
  save('/0', 'old', [0, 0.5])
  for (let at = 1; at < 400; at++)
    done(`/${at % 8}`, { from: `/${(at * 3) % 8}`, orNothing: true }, [at, at + 10], 'in doubt', at % 5 === 0)
  save('/0', 'new', [420, 421])
  expect([isRight('/0', lines('new', 3), 500), isRight('/0', lines('old', 3), 500)]).toEqual([true, false])
})

const paths = ['/p', '/q', '/r']

/** Values that may be there between one whole moment and the next, by trying every order of the changes. */
function byEveryOrder(planned: readonly Planned[], end: number): Map<string, Set<Value>>[] {
  type Values = Readonly<Record<string, Value>>
  const seen = Array.from({ length: end }, () => new Map(paths.map((path) => [path, new Set<Value>()])))
  const tried = new Set<string>()
  const from = (at: number, values: Values, waiting: readonly Planned[]): void => {
    const key = `${at} ${paths.map((path) => values[path]).join()} ${waiting.map(({ start }) => start).join()}`
    if (at === end || tried.has(key)) return
    tried.add(key)
    for (const path of paths) seen[at]?.get(path)?.add(values[path])
    for (const change of waiting) {
      const { becomes, path } = change
      let value = 'value' in becomes ? becomes.value : values[becomes.from]
      if (value === undefined && 'from' in becomes && !becomes.orNothing) value = 'impossible'
      from(
        at,
        { ...values, [path]: value },
        waiting.filter((other) => other !== change),
      )
    }
    const next = at + 1
    if (waiting.some((change) => change.end === next && change.how === 'done')) return
    const stillWaiting = waiting.filter((change) => change.end !== next)
    const begun = planned.filter(({ start, how }) => start === next && how !== 'nothing')
    from(next, values, [...stillWaiting, ...begun])
  }
  from(
    0,
    {},
    planned.filter(({ start, how }) => start === 0 && how !== 'nothing'),
  )
  return seen
}

/** The differences, a line each; `mayBeMore` where the judge may let more pass. */
function differences(planned: readonly Planned[], mayBeMore = false): string[] {
  const end = planned.length * 2
  const history = played(planned, words)
  return byEveryOrder(planned, end).flatMap((there, at) =>
    paths.flatMap((path) =>
      [undefined, ...ids].flatMap((value) => {
        const isPossible = there.get(path)?.has(value) === true
        const bytes = value === undefined ? undefined : words.get(value)
        const isLetPass = history.wrong(path, bytes, at + 0.5) === undefined
        if (isPossible === isLetPass || (mayBeMore && isLetPass)) return []
        return [`${path} ${value} at ${at}: ${isPossible} ${JSON.stringify(planned)}`]
      }),
    ),
  )
}

/** Every way in which so many changes may overlap, each with its start and end, in the order of their starts. */
function overlaps(count: number): [number, number][][] {
  const found: [number, number][][] = []
  const go = (at: number, times: readonly (readonly [number, number | undefined])[]): void => {
    if (at === count * 2) {
      found.push(times as [number, number][])
      return
    }
    if (times.length < count) go(at + 1, [...times, [at, undefined]])
    times.forEach(([start, end], index) => {
      if (end === undefined) go(at + 1, times.with(index, [start, at]))
    })
  }
  go(0, [])
  return found
}

const kinds: readonly Pick<Planned, 'path' | 'becomes'>[] = [
  { path: '/p', becomes: { value: 'old' } },
  { path: '/q', becomes: { value: 'new' } },
  { path: '/p', becomes: { value: undefined } },
  { path: '/q', becomes: { from: '/p', orNothing: false } },
  { path: '/p', becomes: { from: '/q', orNothing: false } },
]

it('of any three changes it lets pass exactly what some order of them leads to', () => {
  const hows = ['done', 'in doubt'] as const
  const wrong: string[] = []
  let compared = 0
  for (const times of overlaps(3))
    for (let choice = 0; choice < kinds.length ** 3 * 2 ** 3; choice++) {
      const planned = times.map(([start, end], index) => ({
        ...(kinds[Math.floor(choice / 8 / kinds.length ** index) % kinds.length] as (typeof kinds)[number]),
        how: hows[(choice >> index) % 2] as 'done',
        isInPlace: false,
        start,
        end,
      }))
      wrong.push(...differences(planned))
      compared++
    }
  expect(compared).toBe(15 * kinds.length ** 3 * 2 ** 3)
  expect(wrong.slice(0, 3)).toEqual([])
})

function randomPlan(luck: Chance, mayBeInPlace: boolean): Planned[] {
  return luck.pick(manyOverlaps).map(([start, end]) => {
    const path = luck.pick(paths)
    const isMove = luck.random() < 0.6
    return {
      path,
      becomes: isMove
        ? { from: luck.pick(paths.filter((other) => other !== path)), orNothing: luck.random() < 0.3 }
        : { value: luck.pick([undefined, ...ids]) },
      how: luck.pick(['done', 'done', 'in doubt', 'nothing'] as const),
      isInPlace: mayBeInPlace && luck.random() < 0.5,
      start,
      end,
    }
  })
}
const manyOverlaps = overlaps(6)

it('of six changes, too, and of changes in place nothing that some order leads to is called wrong', () => {
  const luck = chance(7)
  const wrong: string[] = []
  for (let count = 0; count < 1500; count++) wrong.push(...differences(randomPlan(luck, false)))
  for (let count = 0; count < 500; count++) wrong.push(...differences(randomPlan(luck, true), true))
  expect(wrong.slice(0, 3)).toEqual([])
})
