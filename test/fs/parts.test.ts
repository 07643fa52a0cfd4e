// A function takes the parts it needs, by name. The whole of them is known where they are put together, begun and ended, and
// where the operation table hands them on.

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
