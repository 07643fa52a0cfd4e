// A clone of this work tree, for tests that build: other tests run the program in this tree's `dist` meanwhile.

import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

const root = new URL('../..', import.meta.url).pathname
const limitMs = 240_000

/** Clones into `folder`, which must not exist, without packages or a build. Uncommitted changes are copied, too. */
export async function cloneTo(folder: string): Promise<void> {
  await run('git', ['clone', '--quiet', root, folder], { limitMs })
  for (const name of ['src', 'scripts', 'docs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    await cp(join(root, name), join(folder, name), { recursive: true })
}
