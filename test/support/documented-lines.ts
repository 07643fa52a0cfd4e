// The shell lines that README and the docs tell people to type.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export interface DocumentedLine {
  /** As it stands, without the comment behind it; what is continued, or holds a document of its own (`<<'END'`), is one. */
  readonly text: string
  /** `docs/desktops.md:91`. */
  readonly at: string
}

/** Every line of every `sh` block, in order. */
export async function documentedLines(): Promise<DocumentedLine[]> {
  const pages = ['README.md', 'native-deps.md']
  for (const folder of ['docs', 'docs/decisions']) {
    const names = await readdir(join(root, folder))
    pages.push(...names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`))
  }
  const found = await Promise.all(
    pages.map(async (page) => linesOf(page, await readFile(join(root, page), 'utf8'))),
  )
  return found.flat()
}

function linesOf(page: string, markdown: string): DocumentedLine[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((block) => {
    const first = markdown.slice(0, block.index).split('\n').length + 1
    return commandsOf(block[1] ?? '').map(({ text, row }) => ({ text, at: `${page}:${first + row}` }))
  })
}

function commandsOf(block: string): { text: string; row: number }[] {
  const commands: { text: string; row: number }[] = []
  let open: { lines: string[]; row: number; until: string | undefined } | undefined
  for (const [row, line] of block.trimEnd().split('\n').entries()) {
    const document = /<<'?(\w+)'?/.exec(line)?.[1]
    open ??= { lines: [], row, until: document }
    open.lines.push(line)
    const goesOn = open.until === undefined ? line.endsWith('\\') : line !== open.until
    if (goesOn) continue
    const text = open.lines.join('\n').trim()
    const bare = open.until === undefined ? text.replace(/\s{2,}# .*$/, '') : text
    if (bare !== '') commands.push({ text: bare, row: open.row })
    open = undefined
  }
  return commands
}
