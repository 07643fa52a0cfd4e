// Rows of paths that were changed here: each lasts as long as a listing may say otherwise, and no longer.

import { expect, it } from 'vitest'

import { TransactionSteps } from '../../src/content/spool/transaction-steps.ts'
import { SyncedPaths } from '../../src/ledger/synced-paths.ts'

const ttlMs = 10

function open(): { paths: SyncedPaths; pass: (ms: number) => void; listed: Set<string> } {
  let now = 100
  const listed = new Set<string>()
  const paths = new SyncedPaths({
    ttlMs,
    now: () => now,
    isListed: (folder) => listed.has(folder),
  })
  return { paths, pass: (ms) => void (now += ms), listed }
}

/** So many paths are changed in a folder that it is worth a look which rows are over. */
function touchMany(paths: SyncedPaths, folder: string): void {
  for (let n = 0; n < 3_000; n++) paths.touch(`${folder}/${n}`, undefined)
}

it('a row that is over goes, but where an older listing is still shown', () => {
  const { paths, pass, listed } = open()
  for (const path of ['/d/over', '/listed/over', '/d/open']) paths.touch(path, 'v1')
  for (const path of ['/d/over', '/listed/over']) paths.agree(path)
  listed.add('/listed')
  pass(ttlMs + 1)
  paths.touch('/d/late', 'v1')
  paths.agree('/d/late')
  touchMany(paths, '/many')
  expect([...paths.in({ path: '/d' }).keys()]).toEqual(['open', 'late'])
  expect([...paths.in({ path: '/listed' }).keys()]).toEqual(['over'])
  expect(paths.in({ path: '/many' }).size).toBe(3_000)
})

it('a change of a row is undone, whatever came after it', () => {
  const { paths } = open()
  const steps = new TransactionSteps()
  steps.begin()
  paths.touch('/d/a', 'v1')
  paths.agree('/d/a')
  paths.drop('/d/a')
  for (const undo of steps.rolledBack()) undo()
  expect([paths.at('/d/a'), [...paths.in({ path: '/d' })]]).toEqual([undefined, []])
})

it('paths that are open are told of a folder and all below it, and of no other', () => {
  const { paths } = open()
  for (const path of ['/d/a', '/d/e/b', '/d/agreed', '/de/c', '/f']) paths.touch(path, undefined)
  paths.agree('/d/agreed')
  expect(paths.openUnder('/d')).toEqual(['/d/a', '/d/e/b'])
  expect(paths.openUnder('/').length).toBe(4)
  expect([paths.isOpenIn({ path: '/d' }), paths.isOpenIn({ path: '/de' })]).toEqual([true, true])
  paths.leaveToListings('/de/c')
  expect(paths.isOpenIn({ path: '/de' })).toBe(false)
})

it('what is known of a folder without a name is not what is known of its former path', () => {
  const { paths } = open()
  paths.touch('/d/a', 'v1')
  expect(paths.in({ path: '/d', isUnlinked: true }).size).toBe(0)
})
