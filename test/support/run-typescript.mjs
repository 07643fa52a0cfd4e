// Lets the threads that the code under test starts run its TypeScript sources: Node 20 cannot by itself. Given to the test
// processes as `--import` (test/vitest.config.ts); their threads inherit it.

import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Vitest has transforms of its own in the main thread.
if (!isMainThread) register(import.meta.url)

/** As one CommonJS tree, which is loaded without asking here for each of its hundreds of files. */
export function resolve(specifier, context, nextResolve) {
  return nextResolve(
    specifier,
    specifier === 'kysely' ? { ...context, conditions: ['node', 'require'] } : context,
  )
}

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const { transformSync } = await import('rolldown/utils')
  const { code } = transformSync(new URL(url).pathname, readFileSync(new URL(url), 'utf8'))
  return { format: 'module', source: code, shortCircuit: true }
}
