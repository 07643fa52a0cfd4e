#!/usr/bin/env node
// The command line's frame: finds the command, runs it, turns errors into one line and an exit code.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { filesFor } from './commands.ts'
import { exitCodes } from './exit-codes.ts'
import { isMountHelper, normaliseArguments } from './mount-helper.ts'
import { reportError } from './report-error.ts'

const examples = `
Examples:
  $ docmount serve --data ~/documents --project acme      a service of your own, to try it all
  $ export DOCMOUNT_BASE_URL=http://127.0.0.1:8080/api DOCMOUNT_API_KEY=…
  $ docmount mount acme                                   the project becomes the folder ~/acme
  $ docmount status                                       what is mounted, what is not sent yet
  $ docmount unmount ~/acme                               sends what is left, then lets go

The key comes from DOCMOUNT_API_KEY, from the file that DOCMOUNT_API_KEY_FILE names, or from
~/.config/docmount/config.json; it is never an argument. Each command has more: docmount COMMAND --help
Exit codes: 0 done · 1 failed · 2 wrong usage · 75 temporary, try again later`

async function main(script: string, rawArgs: readonly string[]): Promise<void> {
  // Read when the pool is first used. A daemon's fsyncs, spool reads and cache writes should not wait for four threads.
  process.env['UV_THREADPOOL_SIZE'] ??= '16'
  const program = new Command('docmount')
    .description('A drive for documents: mounts a project of the Project Document Service as a folder.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'docmount: ')),
    })
  const args = normaliseArguments(script, rawArgs)
  for (const load of filesFor(args[0])) {
    const file = await load()
    file.register(program)
  }
  if (args.length === 0) {
    program.outputHelp()
    return
  }
  await program.parseAsync(args, { from: 'user' })
}

/** mount(8) expects 1 for wrong usage and 32 for a mount that failed. */
function helperExitCode(exitCode: number): number {
  if (exitCode === exitCodes.ok) return 0
  return exitCode === exitCodes.usage ? 1 : 32
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const script = process.argv[1] ?? ''
try {
  await main(script, process.argv.slice(2))
} catch (error) {
  const exitCode = reportError(error)
  process.exitCode = isMountHelper(script) ? helperExitCode(exitCode) : exitCode
}
