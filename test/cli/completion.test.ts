// Completion scripts in the shells they are for.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { isInstalled, run } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await makeTemporaryFolder()
  await writeFile(join(folder.path, 'report.pdf'), '')
  await mkdir(join(folder.path, '.config/docmount'), { recursive: true })
  const projects = { acme: {}, 'two words': {}, '$(touch touched)': {} }
  await writeFile(join(folder.path, '.config/docmount/config.json'), JSON.stringify({ projects }))
  await mkdir(join(folder.path, 'bin'))
  const program = `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`
  await writeFile(join(folder.path, 'bin/docmount'), program, { mode: 0o755 })
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await run(process.execPath, [cli, 'completion', shell])
    await writeFile(join(folder.path, shell), stdout)
  }
})
afterAll(() => folder.remove())

/** Completions that a script offers for the words, the last of which is being typed. */
const shells: [string, (words: readonly string[]) => Promise<string>][] = [
  ['bash', (words) => asked('bash', `source ./bash; ${bashFunction(words)}`)],
  [
    'zsh',
    (words) => asked('zsh', `autoload -U compinit && compinit -u; source ./zsh; ${bashFunction(words)}`),
  ],
  ['fish', (words) => asked('fish', `source ./fish; complete -C '${words.join(' ')}'`)],
]

const bashFunction = (words: readonly string[]): string =>
  `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
   compopt() { :; }; _docmount; printf '%s\\n' "\${COMPREPLY[@]}"`

async function asked(shell: string, lines: string): Promise<string> {
  const flags = shell === 'zsh' ? ['-f', '-o', 'KSH_ARRAYS', '-c'] : ['-c']
  const env = { ...bareHomeIn(folder.path), PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}` }
  return (await run(shell, [...flags, `cd '${folder.path}'; ${lines}`], { env })).stdout
}

describe.each(shells)('%s', (shell, offers) => {
  const its = test.skipIf(!isInstalled(shell))

  its('completes a command', async () => {
    expect(await offers(['docmount', 'moun'])).toMatch(/^mount\b/m)
  })
  its('completes the options of that command', async () => {
    expect(await offers(['docmount', 'mount', '--cache-t'])).toMatch(/^--cache-ttl\b/m)
  })
  its('completes the choices of an option', async () => {
    expect(await offers(['docmount', 'mount', '--driver', 'fuse'])).toMatch(/fuse-native/)
  })
  its('completes a command below a command, and its options', async () => {
    expect(await offers(['docmount', 'tables', 'cre'])).toMatch(/^create\b/m)
    expect(await offers(['docmount', 'tables', 'create', '--sch'])).toMatch(/^--schema\b/m)
  })
  its('completes projects, and drives, and carries out nothing that a name holds', async () => {
    expect(await offers(['docmount', 'mount', 'ac'])).toMatch(/^acme\b/m)
    expect(await offers(['docmount', 'ls', ''])).toMatch(/^two\\? words\b/m)
    expect(await offers(['docmount', 'service', 'install', 'ac'])).toMatch(/^acme\b/m)
    expect(await offers(['docmount', 'status', ''])).not.toMatch(/^acme\b/m)
    if (shell !== 'fish') expect(await offers(['docmount', 'get', 'acme', 'ac'])).not.toMatch(/^acme\b/m)
    expect(await readdir(folder.path)).not.toContain('touched')
  })
  its('completes files where a command takes them', async () => {
    expect(await offers(['docmount', 'put', 'rep'])).toMatch(/report\.pdf/)
  })
})
