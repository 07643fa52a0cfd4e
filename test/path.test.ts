// Paths in a project, as text.

import { expect, it } from 'vitest'
import { folderOf, foldersAbove, isAtOrUnder, nameOf, pathBelow } from '../src/path.ts'

it('under a folder is the folder and what is below, not what begins alike', () => {
  expect(isAtOrUnder('/a/b', '/a')).toBe(true)
  expect(isAtOrUnder('/a', '/a')).toBe(true)
  expect(isAtOrUnder('/ab', '/a')).toBe(false)
  expect(isAtOrUnder('/anything', '/')).toBe(true)
})

it.each(['/a', '/a/b', '/a/b/c.txt'])('%s is its name in its folder', (path) => {
  expect(pathBelow(folderOf(path), nameOf(path))).toBe(path)
})

it.each([
  ['/', []],
  ['/a', []],
  ['/a/b/c.txt', ['/a/b', '/a']],
])('the folders above %s are %j, without the root', (path, above) => {
  expect(foldersAbove(path)).toEqual(above)
})
