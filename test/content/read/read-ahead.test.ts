import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAheadStep } from '../../../src/content/read/read-ahead.ts'
import type { Arrival, ReadAheadState } from '../../../src/content/read/read-ahead.ts'

const KiB = 1024
const MiB = 1024 * KiB
const limits = { sizeBytes: 1024 * MiB, maxWindowBytes: 32 * MiB }

type Read = readonly [offset: number, length: number, arrival?: Arrival]

/** Runs reads one after another; gives what each one asked for ahead, and the last state. */
function run(
  reads: readonly Read[],
  within = limits,
): { ahead: (readonly [number, number] | undefined)[]; state: ReadAheadState; seeks: number } {
  let state: ReadAheadState | undefined
  let seeks = 0
  const ahead = reads.map(([offset, length, arrival = 'ready']) => {
    const step = readAheadStep(state, { offset, length }, arrival, within)
    state = step.state
    if (step.hasSought) seeks++
    return step.ahead === undefined ? undefined : ([step.ahead.offset, step.ahead.length] as const)
  })
  if (state === undefined) throw new Error('no reads')
  return { ahead, state, seeks }
}

function steps(from: number, count: number, length: number, arrival: Arrival = 'ready'): Read[] {
  return Array.from({ length: count }, (_, index) => [from + index * length, length, arrival] as const)
}

describe('read-ahead', () => {
  const k128 = 128 * KiB
  const table: readonly [
    title: string,
    reads: readonly Read[],
    last: readonly [number, number] | undefined,
  ][] = [
    ['the first read at the start fetches 256 KiB in all', [[0, k128, 'missing']], [k128, k128]],
    ['a small first read at the start does, too', [[0, 4 * KiB, 'missing']], [4 * KiB, 252 * KiB]],
    [
      'what was asked for before it was opened is enough for a first read at the start',
      [[0, k128, 'requested']],
      undefined,
    ],
    [
      'and where it reads on, a window of 2 MiB opens',
      [
        [0, k128, 'requested'],
        [k128, k128, 'missing'],
      ],
      [256 * KiB, 2 * MiB],
    ],
    ['the first read elsewhere fetches nothing ahead', [[10 * MiB, k128, 'missing']], undefined],
    [
      'a second read inside the first window fetches nothing',
      [
        [0, 4 * KiB],
        [4 * KiB, 64 * KiB],
      ],
      undefined,
    ],
    ['reading past the first window opens one of 2 MiB', steps(0, 2, k128), [256 * KiB, 2 * MiB]],
    ['a reader that never waits keeps its window full', steps(0, 3, k128), [256 * KiB + 2 * MiB, MiB]],
    [
      'reading on for two blocks after a seek opens a window',
      [[0, k128], ...steps(10 * MiB, 2, k128)],
      [10 * MiB + 256 * KiB, 2 * MiB],
    ],
    [
      'reading backwards fetches nothing',
      [
        [10 * MiB, k128],
        [10 * MiB - k128, k128],
        [10 * MiB - 2 * k128, k128],
      ],
      undefined,
    ],
    [
      'large strides fetch nothing',
      Array.from({ length: 20 }, (_, i): Read => [i * 2 * MiB + MiB, k128, 'missing']),
      undefined,
    ],
    [
      'strides of a block and more fetch nothing',
      Array.from({ length: 200 }, (_, i): Read => [MiB + i * 132 * KiB, 4 * KiB, 'missing']),
      undefined,
    ],
    [
      'strides that leave no block out open a window once they have passed 256 KiB',
      Array.from({ length: 5 }, (_, i): Read => [MiB + i * 68 * KiB, 4 * KiB, 'missing']),
      [MiB + 276 * KiB, 2 * MiB],
    ],
    [
      'the end of the document ends the window',
      [
        [1023 * MiB, 512 * KiB],
        [1023.5 * MiB, k128],
      ],
      [1023.625 * MiB, 384 * KiB],
    ],
  ]
  test.each(table)('%s', (_title, reads, last) => {
    expect(run(reads).ahead.at(-1)).toEqual(last)
  })

  test.each([
    ['for streams that have not begun gets the largest window', 'requested', 32 * MiB],
    ['for bytes that flow gets one of 24 MiB', 'flowing', 24 * MiB],
    ['never keeps the window of 2 MiB', 'ready', 2 * MiB],
  ] as const)('a reader that waits %s, in proportion to what it read', (_title, arrival, largest) => {
    const windows: number[] = []
    let state: ReadAheadState | undefined
    for (let offset = 0; offset < 200 * MiB; offset += k128) {
      const step = readAheadStep(state, { offset, length: k128 }, arrival, limits)
      state = step.state
      expect(state.windowBytes).toBeLessThanOrEqual(Math.max(256 * KiB, 8 * (offset + k128)))
      windows.push(state.windowBytes)
    }
    expect(Math.max(...windows)).toBe(largest)
    expect(windows).toEqual(windows.slice().sort((a, b) => a - b))
  })

  test('random 4 KiB reads that leave blocks out never open a window', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6000), { minLength: 2, maxLength: 200 }), (places) => {
        const reads = places.map((place): Read => [(place + 2) * 132 * KiB, 4 * KiB, 'missing'])
        const { ahead } = run(reads)
        expect(ahead.every((extent) => extent === undefined)).toBe(true)
      }),
    )
  })

  test('jumps forwards that leave no block out are in order', () => {
    const { seeks, state } = run(
      Array.from({ length: 500 }, (_, i): Read => [i * 68 * KiB, 4 * KiB, 'requested']),
    )
    expect(seeks).toBe(0)
    expect(state.windowBytes).toBe(32 * MiB)
  })

  test('READs that overtake each other are still in order', () => {
    const swapped = Array.from({ length: 30 }, (_, index) => [2 * index + 2, 2 * index + 1]).flat()
    const { seeks, state } = run([[0, k128], ...swapped.map((block): Read => [block * k128, k128])])
    expect(seeks).toBe(0)
    expect(state.windowBytes).toBeGreaterThanOrEqual(MiB)
  })

  test('reading again what is still here changes nothing', () => {
    const before = run(steps(0, 20, k128))
    const after = run([...steps(0, 20, k128), [0, 4 * KiB], [k128, 4 * KiB]])
    expect(after.state).toEqual(before.state)
    expect(after.seeks).toBe(0)
  })

  test('a seek closes the window and says so', () => {
    const { state, seeks } = run([...steps(0, 40, k128, 'flowing'), [900 * MiB, k128, 'missing']])
    expect(seeks).toBe(1)
    expect(state.windowBytes).toBe(0)
  })

  test('what was asked for and did not come is asked for again', () => {
    const { ahead } = run([...steps(0, 20, k128), [20 * k128, k128, 'missing']])
    expect(ahead.at(-1)?.[0]).toBe(21 * k128)
  })

  test('nothing is asked for twice, nothing beyond the end or more than one request beyond the window', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ length: fc.integer({ min: 1, max: 256 * KiB }), late: fc.boolean() }), {
          maxLength: 300,
        }),
        fc.integer({ min: 1, max: 40 * MiB }),
        (reads, sizeBytes) => {
          const within = { sizeBytes, maxWindowBytes: 4 * MiB }
          let state: ReadAheadState | undefined
          let offset = 0
          let asked = 0
          for (const { length, late } of reads) {
            const read = { offset, length: Math.min(length, sizeBytes - offset) }
            if (read.length <= 0) break
            const step = readAheadStep(state, read, late ? 'flowing' : 'ready', within)
            state = step.state
            offset += read.length
            if (step.ahead === undefined) continue
            const end = step.ahead.offset + step.ahead.length
            expect(step.ahead.length).toBeGreaterThan(0)
            expect(step.ahead.offset).toBeGreaterThanOrEqual(Math.max(asked, offset))
            expect(end).toBeLessThanOrEqual(
              Math.min(sizeBytes, Math.max(256 * KiB, offset + 4 * MiB + 2 * MiB)),
            )
            asked = end
          }
        },
      ),
    )
  })

  test('memory for no window fetches nothing ahead', () => {
    const none = { sizeBytes: 100 * MiB, maxWindowBytes: 0 }
    expect(run(steps(0, 50, k128, 'missing'), none).ahead.every((extent) => extent === undefined)).toBe(true)
  })
})
