// Every claim of docs/semantics.md names a test of the behaviour suite, and the README claims nothing else: this one holds both
// to it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname

function sectionOf(file: string, heading: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  return text.slice(text.indexOf(`\n## ${heading}\n`)).split('\n## ')[1] ?? ''
}

const claims = [...sectionOf('README.md', 'Semantics').matchAll(/^- (.*)\.$/gm)].map(([, claim]) => claim)
const shown = [...sectionOf('docs/semantics.md', 'Claims').matchAll(/^\| (.*?) \| (.*?) \|$/gm)]
  .map(([, claim = '', reference = '']) => [claim, reference] as const)
  .slice(1)

/** All text of the suite. */
const folder = join(root, 'test/behaviour/suite')
const suite = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')

describe('README Semantics', () => {
  it('makes ten claims, each of docs/semantics.md', () => {
    expect(claims.length).toBe(10)
    expect(shown.length).toBeGreaterThan(30)
    expect(claims.filter((claim) => !shown.some(([each]) => each === claim))).toEqual([])
  })

  for (const [claim, reference] of shown) {
    it(`"${claim}" is shown by a test`, () => {
      const title = reference.slice(reference.indexOf(': ') + 2)
      expect(suite).toContain(`'${title}'`)
    })
  }
})
