// Build steps after the compiler: writes the man page, and copies the assets of `docmount ui` and `desktop`. Part of `npm run build`.

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { manPage } from './man-page.mjs'

const dist = new URL('../dist/', import.meta.url)

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
const { makeProgram } = await import(new URL('cli/program.js', dist))
const { commandTree } = await import(new URL('cli/command-tree.js', dist))
const program = await makeProgram()
await mkdir(new URL('man/', dist), { recursive: true })
await writeFile(
  new URL('man/docmount.1', dist),
  manPage({ version, description: program.description(), commands: commandTree(program) }),
)

for (const folder of ['ui/assets/', 'desktop/'])
  await cp(new URL(`../src/${folder}`, import.meta.url), new URL(folder, dist), { recursive: true })
