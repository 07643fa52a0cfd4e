// `docmount backup`: copies a service's data folder, whether the service runs or not.

import type { Command } from 'commander'
import { checkDataDir } from '../own-service.ts'
import { formatBytes } from '../../amounts.ts'
import { reportDamaged } from '../damaged-contents.ts'
import { print } from '../output.ts'

const help = `
The copy is of one moment. Every byte of it is read back and compared before the folder gets its name;
until then, and if it is interrupted, it is DEST.partial. It holds the documents, the hashes of keys and
the secret of download links: protect it as you protect the service.
A content that the latest backup in the same folder has is not copied: both have the same file. In a bucket
(s3://BUCKET/PREFIX/NAME?endpoint=URL) all backups of a prefix share their contents; the bucket's key comes
from where docmount serve takes it. docmount serve --backup-to makes backups automatically.
A document whose content is damaged is named, and kept as it is; all else is kept, and the exit code is 1.

Examples:
  $ docmount backup /backups/$(date +%F) --data ~/documents
  $ docmount restore /backups/2026-11-22 --data ~/documents-again
  $ docmount backup 's3://backups/acme/monday?endpoint=https://s3.example' --data ~/documents`

export function register(program: Command): void {
  program
    .command('backup')
    .summary("copy a service's data while it runs")
    .description(
      'Copies the data folder of a service, which may be running, to a new folder, or to a bucket.',
    )
    .argument('<dest>', 'the folder to make, or s3://BUCKET/PREFIX/NAME?endpoint=URL')
    .requiredOption('--data <dir>', "the service's data folder")
    .option('--json', 'print JSON: what backup.json holds')
    .addHelpText('after', help)
    .action(async (destination: string, options: { data: string; json?: boolean }) => {
      checkDataDir(options.data)
      const { isBucket, openPlace, placeOf } = await import('../../service/backup/places.ts')
      const { makeBackup } = await import('../../service/backup/make-backup.ts')
      const { to, name } = placeOf(destination)
      const manifest = isBucket(destination)
        ? await (await openPlace(to)).make(options.data, name)
        : await makeBackup(options.data, destination)
      const { linked = 0 } = manifest
      print(
        options,
        manifest,
        `${manifest.documents} documents in ${manifest.projects === 1 ? '1 project' : `${manifest.projects} projects`} (${formatBytes(manifest.bytes)} beside the database${linked === 0 ? '' : `; ${linked} of ${manifest.contents} contents were in an earlier backup`})`,
      )
      reportDamaged(manifest)
    })
}
