// Rule of docs/contributing.md for comments: a sentence begins with its subject, a noun that a stranger knows.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** A comment of TypeScript, C or a shell whose line, or a sentence in it, has a pronoun in the place of its subject. */
const headless = /(?:^|\s)(?:\/\/|\/?\*+|#) (?:.*[.!?] )?(?:What|Who|Whoever|Whether|Nobody|Nothing|That)\b/

/** Such lines, as `FILE:LINE TEXT`. */
const found = ['src', 'scripts', 'test', '.ci']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line, at) => `${file.slice(root.length + 1)}:${at + 1} ${line.trim()}`)
      .filter((line) => headless.test(line)),
  )

it('comments begin with their subject, and never with What, Who, Whoever, Whether, Nobody, Nothing or That', () => {
  expect(found).toEqual([])
})
