// Compiles reconcile.ts with the sources that it measures, and runs it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runWell } from './processes.mjs'

const root = new URL('../..', import.meta.url).pathname

export const reconcile = {
  async run({ work }) {
    const config = join(root, 'test/tsconfig.build.json')
    await runWell(join(root, 'node_modules/.bin/tsc'), ['-p', config, '--outDir', work])
    await writeFile(join(work, 'package.json'), '{ "type": "module" }')
    await symlink(join(root, 'node_modules'), join(work, 'node_modules'))
    const script = join(work, 'scripts/benchmark/reconcile.js')
    const [code] = await once(spawn(process.execPath, [script], { stdio: 'inherit' }), 'exit')
    if (code !== 0) throw new Error(`reconcile.js ended with ${code}`)
  },
}
