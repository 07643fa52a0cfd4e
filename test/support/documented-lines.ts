// The shell lines in README and the docs, nginx's settings there, and the table of the lines that no test runs.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

/** Languages of other blocks. Blocks of any other language, or of none, are for a shell. */
const otherLanguages = new Set(['json', 'text', 'ts'])

export interface DocumentedLine {
  /** The command without a comment at its end. Continued lines (`\`) and here-documents (`<<'END'`) are one command. */
  readonly text: string
  /** `docs/desktops.md:91`. */
  readonly at: string
}

/** Returns every command of every block for a shell, in order. */
export async function documentedLines(): Promise<DocumentedLine[]> {
  const docs = await readdir(join(root, 'docs'), { recursive: true })
  const pages = ['README.md', 'native-deps.md', ...docs.map((name) => `docs/${name}`)]
  const found = await Promise.all(
    pages
      .filter((page) => page.endsWith('.md'))
      .map(async (page) => linesOf(page, await readFile(join(root, page), 'utf8'))),
  )
  return found.flat()
}

/** Returns the lines of the table in docs/contributing.md, where continued lines are in one row. */
export async function untypedLines(): Promise<string[]> {
  const page = await readFile(join(root, 'docs/contributing.md'), 'utf8')
  const [, section = ''] = page.split('## Lines that no test types\n')
  return [...section.matchAll(/^\| `(.*?)` \|/gm)].map(([, line = '']) => line)
}

export const inOneRow = (line: string): string => line.replaceAll(/\s*\\\n\s*/g, ' ')

function linesOf(page: string, markdown: string): DocumentedLine[] {
  return [...markdown.matchAll(/^ *(?:```|~~~) *(\w*).*\n([\s\S]*?)^ *(?:```|~~~) *$/gm)].flatMap((block) => {
    if (otherLanguages.has(block[1] ?? '')) return []
    const first = markdown.slice(0, block.index).split('\n').length + 1
    // The whole block is one file, or a part of one.
    if (block[1] === 'nginx') return { text: (block[2] ?? '').trim(), at: `${page}:${first}` }
    return commandsOf(block[2] ?? '').map(({ text, row }) => ({ text, at: `${page}:${first + row}` }))
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
    const command = open.until === undefined ? text.replace(/\s{2,}# .*$/, '') : text
    if (command !== '') commands.push({ text: command, row: open.row })
    open = undefined
  }
  return commands
}
