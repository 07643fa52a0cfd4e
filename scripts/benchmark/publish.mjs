// Puts what a run found into the documentation: between two markers of docs/performance.md, and into docs/bench.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const docs = new URL('../../docs', import.meta.url).pathname

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. */
export async function publishTable(name, text) {
  const file = join(docs, 'performance.md')
  const page = await readFile(file, 'utf8')
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no ${begin} … ${end}`)
  await writeFile(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`)
}

export async function publishFile(name, content) {
  await mkdir(join(docs, 'bench'), { recursive: true })
  await writeFile(join(docs, 'bench', name), content)
}
