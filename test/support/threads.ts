// Plugin for Vitest that compiles the worker threads' programs of the code under test, since Node 20 does not run TypeScript. Each
// program is bundled into one file, once in a run.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type { Plugin } from 'vitest/config'

const root = join(import.meta.dirname, '../..')
const start = /siblingFile\(import\.meta\.url, '([\w-]+)'\)/g

/** Replaces the first argument of `siblingFile` in each module that starts a thread, so that it finds the bundled program. */
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

/** Bundles a program; returns the paths of its sources. */
async function bundle(input: string, output: string): Promise<string[]> {
  const { output: chunks } = await build({
    input,
    platform: 'node',
    // Packages stay outside, except kysely: it has hundreds of files, which load slowly.
    external: (specifier) => !/^[./]|^kysely$/.test(specifier),
    output: { file: output, format: 'esm', codeSplitting: false },
  })
  return chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : [])).filter(isAbsolute)
}
