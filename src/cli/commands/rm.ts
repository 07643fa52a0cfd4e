// `docmount rm`: deletes a document, or a folder with everything in it.

import type { Command } from 'commander'
import { CommandError } from '../command-error.ts'
import { type ServiceOptions, baseUrlOption, withClient } from '../connect.ts'
import { deleteIfUnchanged } from '../delete-if-unchanged.ts'
import { UsageError } from '../usage-error.ts'

interface RmOptions extends ServiceOptions {
  readonly recursive?: boolean
}

const help = `
The service deletes permanently. What programs delete on a drive is kept for a while: docmount trash.

Examples:
  $ docmount rm acme /invoices/old.pdf
  $ docmount rm acme /invoices/2019 --recursive`

export function register(program: Command): void {
  program
    .command('rm')
    .summary('delete a document or a folder')
    .description('Deletes a document, or with --recursive a folder and everything in it.')
    .argument('<project>', 'name of the project')
    .argument('<path>', 'path in the project')
    .option('-r, --recursive', 'delete a folder with all its documents and folders')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, path: string, options: RmOptions) => {
      if (/^\/*$/.test(path)) throw new UsageError("the project's root cannot be deleted; name what is in it")
      await withClient(project, options, async (client, signal) => {
        const files = client.files(project)
        // DELETE removes a folder as it does a document, so the kind is checked first.
        const found = await files.get(path, { signal })
        if (found.kind === 'folder' && options.recursive !== true) {
          throw new CommandError(`${path} is a folder; --recursive deletes it with everything in it`)
        }
        await deleteIfUnchanged(files, path, found, signal)
      })
    })
}
