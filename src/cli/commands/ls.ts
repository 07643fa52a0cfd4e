// `docmount ls`: lists a folder of the project as the service has it, without a drive.

import type { Command } from 'commander'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { type ServiceOptions, baseUrlOption, withClient } from '../connect.ts'
import { printable } from '../../printable.ts'
import { printJson, printTable } from '../output.ts'

interface LsOptions extends ServiceOptions {
  readonly long?: boolean
  readonly json?: boolean
}

const help = `
Asks the service itself: what is not sent yet from a mounted drive is not listed.

Examples:
  $ docmount ls acme
  $ docmount ls acme /invoices/2026 --long
  $ docmount ls acme / --json | jq '.[] | select(.ftype == "file") | .size'`

export function register(program: Command): void {
  program
    .command('ls')
    .alias('list')
    .summary('list a folder without a mount')
    .description('Lists a folder, or shows one document.')
    .argument('<project>', 'name of the project')
    .argument('[path]', 'path in the project', '/')
    .option('-l, --long', 'with size, time and type')
    .option('--json', 'print JSON: an array of {ftype, name, size, mimetype, modified_at}')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, path: string, options: LsOptions) => {
      const found = await withClient(project, options, (client, signal) =>
        client.files(project).get(path, { signal }),
      )
      const entries = found.kind === 'file' ? [found] : found.entries.toSorted(byName)
      if (options.json === true) printJson(entries.map(asWire))
      else if (options.long === true) printTable(['SIZE', 'MODIFIED', 'TYPE', 'NAME'], entries.map(longRow))
      else process.stdout.write(entries.map((entry) => `${shownName(entry)}\n`).join(''))
    })
}

type Entry = RemoteFile | RemoteFolder

/** Compares by code units, as LC_ALL=C ls does: the same order in every locale. */
function byName(a: Entry, b: Entry): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}

function shownName(entry: Entry): string {
  // Scripts get the exact name; on a terminal, control characters are replaced.
  const name = process.stdout.isTTY ? printable(entry.name) : entry.name
  return entry.kind === 'folder' ? `${name}/` : name
}

function longRow(entry: Entry): (string | number | undefined)[] {
  return entry.kind === 'folder'
    ? [undefined, undefined, 'folder', `${entry.name}/`]
    : [entry.size, entry.modifiedAt, entry.mimetype, entry.name]
}

/** Returns the entry with the interface's field names, without the presigned URL, which opens the document for 15 minutes. */
function asWire(entry: Entry): object {
  if (entry.kind === 'folder') return { ftype: 'folder', name: entry.name }
  const { name, size, mimetype, modifiedAt } = entry
  return { ftype: 'file', name, size, mimetype, modified_at: modifiedAt }
}
