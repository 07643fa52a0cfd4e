// A journal that cannot take a change: any transaction may fail at its end, when all in it was done, or at any row that it
// writes, as on a disk that is full or fails. libsql writes past every seam of the world, so it is done where the drive calls it. One drive at a time.

import { JournalDatabase } from '../../src/content/spool/journal-database.ts'

type Transaction = (this: JournalDatabase, body: () => unknown) => unknown
type Run = (this: JournalDatabase, sql: string, ...values: unknown[]) => unknown

const { prototype } = JournalDatabase
const transaction = Reflect.get(prototype, 'transaction') as Transaction
const run = Reflect.get(prototype, 'run') as Run
let beforeCommit: () => void = () => {}
let beforeRow: () => void = () => {}
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

Reflect.set(prototype, 'run', function (this: JournalDatabase, ...given: [string, ...unknown[]]): unknown {
  beforeRow()
  return run.apply(this, given)
})

/** Called before each row is written, and at the end of each transaction, which fails with what they throw. */
export function atEachCommit(mayCommit: () => void, mayWriteRow: () => void): void {
  beforeCommit = mayCommit
  beforeRow = mayWriteRow
}
