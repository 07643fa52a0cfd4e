// A journal that cannot take a change: any transaction may fail at its end, when all in it was done, as on a disk that is full
// or fails. libsql writes past every seam of the world, so it is done where the drive calls it. One drive at a time.

import { JournalDatabase } from '../../src/content/spool/journal-database.ts'

type Transaction = (this: JournalDatabase, body: () => unknown) => unknown

const { prototype } = JournalDatabase
const transaction = Reflect.get(prototype, 'transaction') as Transaction
let beforeCommit: () => void = () => {}
let isInside = false

Reflect.set(prototype, 'transaction', function (this: JournalDatabase, body: () => unknown): unknown {
  if (isInside) return transaction.call(this, body)
  isInside = true
  try {
    return transaction.call(this, () => {
      const result = body()
      beforeCommit()
      return result
    })
  } finally {
    isInside = false
  }
})

/** Called at the end of each transaction, which fails with what it throws. */
export function atEachCommit(mayCommit: () => void): void {
  beforeCommit = mayCommit
}
