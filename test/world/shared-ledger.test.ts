// Contents that count as written by somebody in the simulated world: also the part of one that the drive took before it refused the
// rest, as every disk that is full does (shared seed 203 with undo, 50,000 steps).

import { expect, it } from 'vitest'
import { chance } from '../model/chance.ts'
import { transferBytes } from '../support/object-file.ts'
import { ServiceModel, someHabits } from './service-model.ts'
import { SharedLedger } from './shared-ledger.ts'

it.each([0, 5])(
  'of a content refused when it was written from byte %d on, whole writes may stand',
  (from) => {
    const luck = chance(1)
    const service = new ServiceModel(someHabits(luck), luck, () => 0)
    const ledger = new SharedLedger({ service, now: () => 0, cacheTtlMs: 0, isOlderThanMount: () => true })
    const bytes = Buffer.from(luck.bytes(3 * transferBytes))
    const shown = (length: number) => () => ledger.shown('/a.txt', bytes.subarray(0, length), new Set())
    expect(shown(from + transferBytes)).toThrow('nobody has written')
    ledger.refused(bytes, from)
    expect(shown(from + transferBytes)).not.toThrow()
    expect(shown(from + 2 * transferBytes)).not.toThrow()
    expect(shown(from + transferBytes - 1)).toThrow('nobody has written')
    expect(() => ledger.shown('/a.txt', Buffer.alloc(from + transferBytes), new Set())).toThrow(
      'nobody has written',
    )
  },
)
