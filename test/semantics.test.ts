// Every claim of the README's Semantics table names a test of the behaviour suite, in docs/semantics.md: this one holds both
// to it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname

/** The cells of each row of the table behind a heading. */
function rowsOf(file: string, heading: string): string[][] {
  const text = readFileSync(join(root, file), 'utf8')
  const section = text.slice(text.indexOf(`\n## ${heading}\n`)).split('\n## ')[1] ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const claims = rowsOf('README.md', 'Semantics').map(([, claim]) => claim)
const shown = rowsOf('docs/semantics.md', 'What README claims')

/** All text of the suite. */
const folder = join(root, 'test/behaviour/suite')
const suite = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')

describe('README Semantics', () => {
  it('makes its claims, and docs/semantics.md names a test for each', () => {
    expect(claims.length).toBeGreaterThan(20)
    expect(claims).toEqual(shown.map(([claim]) => claim))
  })

  for (const [claim = '', reference = ''] of shown) {
    it(`"${claim}" is shown by a test`, () => {
      const title = reference.slice(reference.indexOf(': ') + 2)
      expect(suite).toContain(`'${title}'`)
    })
  }
})
