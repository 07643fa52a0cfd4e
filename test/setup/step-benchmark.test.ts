// The benchmark of a save's steps is of the parts as they are built: it ends when one of them is used in another way.

import { expect, test } from 'vitest'
import { run } from '../support/run.ts'

const root = new URL('../..', import.meta.url).pathname

test('scripts/bench save prints each step of a save', async () => {
  const { stdout } = await run(`${root}scripts/bench`, ['save', root, '--count', '10'])
  const rows = stdout.trim().split('\n').slice(2)
  expect(rows.map((row) => row.split(' | ')[0]?.slice(2))).toContain('content and intention are journaled')
  expect(rows.length).toBeGreaterThan(5)
})
