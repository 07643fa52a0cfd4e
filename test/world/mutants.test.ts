// Each mutant of scripts/mutants.mjs finds the text that it changes: one that matches nothing shows nothing.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fixes, mutants } from '../../scripts/mutants-list.mjs'

const root = join(import.meta.dirname, '../..')

it('each mutant takes something away', () => {
  const all = [...fixes, ...mutants]
  const idle = all.filter(([, ...changes]) =>
    changes.some((_, at) => {
      if (at % 3 !== 0) return false
      const [file, from, to] = changes.slice(at, at + 3) as [string, string | RegExp, string]
      const source = readFileSync(join(root, file), 'utf8')
      return source.replace(from, () => to) === source
    }),
  )
  expect(idle.map(([name]) => name)).toEqual([])
  expect(new Set(all.map(([name]) => name)).size).toBe(all.length)
})
