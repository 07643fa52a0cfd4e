// A function takes the parts it needs, by name. The whole of them is known where they are put together, begun and ended, and
// where the operation table hands them on. Few files change the parts of a node.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '../../src')

it('only who puts the parts together, begins and ends them, and the operation table know them all', () => {
  const knowing = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && /\bSuperblock\b/.test(readFileSync(join(src, file), 'utf8')))
    .sort()
  expect(knowing).toEqual(['fs/assemble.ts', 'fs/file-system.ts', 'fs/start.ts', 'fs/superblock.ts'])
})

/** Verbs of a node's parts that keep something else in step (who shows a version, who claims content, who has a job): who calls them. */
const callers: [part: string, verbs: string[], files: string[]][] = [
  ['stored', ['replace', 'moveTo', 'forget'], ['fs/tree/versions.ts']],
  ['stored', ['renew'], ['fs/tree/listing-merge.ts', 'fs/tree/versions.ts']],
  ['local', ['become'], ['fs/unsent/claims.ts']],
  ['local', ['handedIn'], ['fs/unsent/owners.ts']],
  ['unsent', ['handedIn', 'goesOnAs', 'withdrawn'], ['fs/unsent/owners.ts']],
  ['unsent', ['givenUp'], ['fs/calls/to-trash.ts', 'fs/unsent/backup.ts']],
  ['times', ['reset'], ['fs/tree/attribute-store.ts', 'fs/tree/folder-times.ts']],
]

it.each(callers)('of node.%s, %j are called by those that keep the rest in step', (part, verbs, files) => {
  const call = new RegExp(`\\b${part}\\??\\.(?:${verbs.join('|')})\\(`)
  const calling = readdirSync(join(src, 'fs'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('fs', file))
    .filter((file) => file.endsWith('.ts') && call.test(readFileSync(join(src, file), 'utf8')))
    .sort()
  expect(calling).toEqual(files)
})

it('who is in a folder, and what is kept there, is written by the tree alone', () => {
  const names = ['node-table', 'places']
  const call = /\b(?:folder|state|siblings)\??\.(?:put|keep|unkeep)\(/
  const calling = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && call.test(readFileSync(join(src, file), 'utf8')))
    .sort()
  expect(calling).toEqual(names.map((name) => `fs/tree/${name}.ts`))
})
