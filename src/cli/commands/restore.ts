// `docmount restore`: makes a service's data folder from a backup.

import type { Command } from 'commander'
import { reportDamaged } from '../damaged-contents.ts'
import { print } from '../output.ts'

const help = `
Everything is read back and compared before the folder gets its name. The keys open what they opened
when the backup was made.

Example:
  $ docmount restore /backups/2026-11-22 --data ~/documents-again
  $ docmount serve --data ~/documents-again`

export function register(program: Command): void {
  program
    .command('restore')
    .summary("make a service's data folder from a backup")
    .description('Makes a data folder from a backup.')
    .argument('<backup>', 'what docmount backup made: a folder, or s3://BUCKET/PREFIX/NAME?endpoint=URL')
    .requiredOption('--data <dir>', 'the data folder to make: absent, or empty')
    .option('--json', 'print JSON: what backup.json holds')
    .addHelpText('after', help)
    .action(async (source: string, options: { data: string; json?: boolean }) => {
      const { restoreBackup } = await import('../../service/backup/restore-backup.ts')
      const manifest = await restoreBackup(source, options.data)
      print(
        options,
        manifest,
        `${manifest.documents} documents in ${manifest.projects === 1 ? '1 project' : `${manifest.projects} projects`}, as of ${manifest.made_at}`,
      )
      reportDamaged(manifest)
    })
}
