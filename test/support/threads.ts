// Vitest's plugin for the threads that the code under test starts. Node 20 runs no TypeScript, and every service starts one:
// each thread's program is made here once in a run, with what it imports, into one file; nothing is compiled in a thread.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type { Plugin } from 'vitest/config'

const root = join(import.meta.dirname, '../..')
const start = /siblingFile\(import\.meta\.url, '([\w-]+)'\)/g

/** A module that starts a thread finds it, by `siblingFile`, beside where that module would be if it were compiled. */
export function threads(): Plugin {
  const folder = mkdtempSync(join(tmpdir(), 'docmount-threads-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return {
    name: 'docmount:threads',
    enforce: 'pre',
    async transform(code, id) {
      const names = [...code.matchAll(start)].map(([, name]) => name ?? '')
      if (names.length === 0 || !id.endsWith('.ts')) return undefined
      const compiled = join(folder, relative(root, id)).replace(/\.ts$/, '.js')
      for (const name of names) {
        const sources = await bundle(join(dirname(id), `${name}.ts`), join(dirname(compiled), `${name}.js`))
        for (const source of sources) this.addWatchFile(source)
      }
      const url = JSON.stringify(pathToFileURL(compiled).href)
      return code.replace(start, `siblingFile(${url}, '$1')`)
    },
  }
}

/** Answers the sources. */
async function bundle(input: string, output: string): Promise<string[]> {
  const { output: chunks } = await build({
    input,
    platform: 'node',
    // Packages are loaded as ever; but for one that is hundreds of files.
    external: (specifier) => !/^[./]|^kysely$/.test(specifier),
    output: { file: output, format: 'esm', codeSplitting: false },
  })
  return chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : [])).filter(isAbsolute)
}
