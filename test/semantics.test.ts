// Every row of the README's Semantics table names a test of the behaviour suite: this one holds the table to it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const section = readme.slice(readme.indexOf('## Semantics'), readme.indexOf('## Commands'))
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| claim'))
  .map((line) => line.split(' | '))

/** All text of the suite, by topic (`call budgets` is `call-budgets.ts`). */
const folder = join(root, 'test/behaviour/suite')
const suite = new Map(
  readdirSync(folder).map((name) => [
    name.replace(/\.ts$/, '').replaceAll('-', ' '),
    readFileSync(join(folder, name), 'utf8'),
  ]),
)
const wholeSuite = [...suite.values()].join('\n')

describe('README Semantics', () => {
  it('has a row for every claim', () => {
    expect(rows.length).toBeGreaterThan(20)
  })

  for (const [claim, shownBy] of rows) {
    it(`"${claim?.slice(2)}" is shown by a test`, () => {
      const reference = shownBy?.replace(/ \|$/, '') ?? ''
      const title = reference.slice(reference.indexOf(': ') + 2)
      expect(wholeSuite).toContain(`'${title}'`)
    })
  }
})
