// `docmount free`: removes from this machine what the service has.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
What is not sent yet stays. Everything stays on the drive, and is fetched again when it is read.

Example:
  $ docmount free ~/acme/videos ~/acme/report.pdf`

export function register(program: Command): void {
  program
    .command('free')
    .summary('free the room that documents take on this machine')
    .description('Ends the pins of documents and folders, and removes what this machine keeps of them.')
    .argument('<path...>', 'paths on a drive')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (paths: readonly string[], options: JsonOption) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      await withJsonAnswer(options, async () => {
        let documents = 0
        for (const path of paths) {
          const { found, path: inside } = await findDrive(path)
          documents += (await askDrive(found, 'free', { path: inside })).documents
        }
        if (options.json !== true)
          console.log(`${documents} ${documents === 1 ? 'document is' : 'documents are'} in the service only`)
        return { documents }
      })
    })
}
