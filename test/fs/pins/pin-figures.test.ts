// How much of a pin is here, told at any time.

import { expect, test } from 'vitest'
import { PinFigures } from '../../../src/fs/pins/pin-figures.ts'

/** A pin of two documents of 10 bytes each, the first of them here. */
function counted({ isAway = false, problems = [] as string[] } = {}): PinFigures {
  const pin = new PinFigures('/a')
  pin.begin(problems)
  pin.found(10, 10, { isHere: true, needBytes: 4096 })
  pin.found(10, 4, { isHere: false, needBytes: 4096 })
  pin.counted({ isAway })
  return pin
}

test('before anybody looked, nothing is known', () => {
  expect(new PinFigures('/a').status()).toMatchObject({ state: 'waiting', documents: 0, problem: undefined })
})

test('a look that is under way does not show', () => {
  const pin = counted()
  pin.begin([])
  pin.found(10, 0, { isHere: false, needBytes: 0 })
  expect(pin.status()).toMatchObject({ documents: 2, documentsHere: 1, bytes: 20, bytesHere: 14 })
})

test('it is fetching while bytes come, also where one document cannot be had, and whole in the end', () => {
  const pin = counted()
  pin.cannotBeHad('/a/2: no')
  expect(pin.status().state).toBe('fetching')
  pin.roundEnded({ isAway: false })
  expect(pin.status()).toMatchObject({ state: 'incomplete', problem: '/a/2: no' })
  const next = counted()
  next.kept(6)
  next.documentArrived()
  next.roundEnded({ isAway: false })
  expect(next.status()).toMatchObject({ state: 'here', documentsHere: 2, bytesHere: 20, problem: undefined })
})

test('several problems are one and how many more', () => {
  const pin = counted()
  for (const name of ['1', '2', '3']) pin.doesNotFit(`/a/${name}`)
  pin.roundEnded({ isAway: false })
  expect(pin.status().problem).toBe('/a/1: what is pinned is beyond --pin-size (and 2 more)')
})

test('away, what is missing is said to be; what is whole is here', () => {
  expect(counted({ isAway: true }).status()).toMatchObject({
    state: 'incomplete',
    problem: 'the service is away',
  })
  const pin = new PinFigures('/a')
  pin.begin([])
  pin.found(10, 10, { isHere: true, needBytes: 4096 })
  pin.counted({ isAway: true })
  expect(pin.status().state).toBe('here')
})

test('a folder that cannot be listed leaves it incomplete, though every known document is here', () => {
  const pin = new PinFigures('/a')
  pin.begin(['/a/b cannot be listed: no'])
  pin.found(10, 10, { isHere: true, needBytes: 4096 })
  pin.counted({ isAway: false })
  expect(pin.status().state).toBe('incomplete')
  expect(pin.isPartlyUnknown).toBe(true)
})
