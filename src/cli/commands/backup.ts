// `docmount backup`: a copy of a service's data folder, whether the service runs or not.

import type { Command } from 'commander'
import { checkDataDir } from '../administer.ts'
import { formatBytes } from '../../amounts.ts'
import { tellDamaged } from '../damaged-contents.ts'
import { print } from '../output.ts'

const help = `
The copy is of one moment. Every byte of it is read back and compared before the folder gets its name;
until then, and if it is interrupted, it is DEST.partial. It holds the documents, the hashes of keys and
the secret of download links: protect it as you protect the service.
A document whose content is damaged is named, and kept as it is; all else is kept, and the exit code is 1.

Examples:
  $ docmount backup /backups/$(date +%F) --data ~/documents
  $ docmount restore /backups/2026-11-22 --data ~/documents-again`

export function register(program: Command): void {
  program
    .command('backup')
    .summary("copy a service's data while it runs")
    .description('Copies the data folder of a service, which may be running, to a new folder.')
    .argument('<dest>', 'the folder to make')
    .requiredOption('--data <dir>', "the service's data folder")
    .option('--json', 'print JSON: what backup.json holds')
    .addHelpText('after', help)
    .action(async (destination: string, options: { data: string; json?: boolean }) => {
      checkDataDir(options.data)
      const { makeBackup } = await import('../../service/backup/make-backup.ts')
      const made = await makeBackup(options.data, destination)
      print(
        options,
        made,
        `${made.documents} documents in ${made.projects === 1 ? '1 project' : `${made.projects} projects`} (${formatBytes(made.bytes)} beside the database)`,
      )
      tellDamaged(made)
    })
}
