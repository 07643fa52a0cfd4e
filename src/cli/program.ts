// Makes the commander program, for main, completion scripts and the man page.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { printableLines } from '../printable.ts'
import { commandFilesFor } from './commands.ts'

const examples = `
Examples:
  $ docmount serve --data ~/documents --project acme      a service of your own, to try it all
  $ docmount login                                        asks for service and key, tries them, keeps them
  $ docmount mount acme                                   the project becomes the folder ~/acme
  $ docmount status                                       what is mounted, and what is not sent yet
  $ docmount ui                                           the same in a web browser, live
  $ docmount unmount ~/acme                               sends what is left, then unmounts

The key comes from DOCMOUNT_API_KEY, from the file that DOCMOUNT_API_KEY_FILE names, or from
~/.config/docmount/config.json; it is never an argument. For more about a command: docmount COMMAND --help
Exit codes: 0 done · 1 failed · 2 wrong usage · 75 temporary, try again later`

/** Makes the program with one command, or with all of them if `name` is undefined or unknown. */
export async function makeProgram(name?: string): Promise<Command> {
  const program = new Command('docmount')
    .description('A drive for documents: mounts a project of the Project Document Service as a folder.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(printableLines(text.replace(/^error: /, 'docmount: '))),
    })
  for (const load of commandFilesFor(name)) {
    const file = await load()
    file.register(program, makeProgram)
  }
  return program
}

export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
