// `docmount restore`: brings back a document that was deleted or replaced on a drive; with --data, a service from its backup.

import { type Command, Option } from 'commander'
import { reportDamaged } from '../damaged-contents.ts'
import { print } from '../output.ts'

const help = `
A document comes back as a new save: what has its name now is kept for undo in its turn. Of a folder, all that
was deleted in it comes back. docmount trash and docmount versions show what there is.

With --data, a backup becomes a data folder. Everything is read back and compared before the folder gets its
name. The keys open what they opened when the backup was made.

Examples:
  $ docmount restore ~/acme/report.pdf
  $ docmount restore ~/acme/report.pdf --at '2026-11-27 09:12:05' --to ~/acme/report-before.pdf
  $ docmount restore /backups/2026-11-22 --data ~/documents-again
  $ docmount serve --data ~/documents-again`

interface RestoreCommandOptions {
  readonly data?: string
  readonly at?: string
  readonly to?: string
  readonly json?: boolean
}

export function register(program: Command): void {
  program
    .command('restore')
    .summary('bring back a deleted or replaced document, or a service from its backup')
    .description('Brings back a document, or a folder, that was deleted or replaced on a drive.')
    .argument(
      '<path>',
      'where it was on a drive; with --data what docmount backup made: a folder, or s3://BUCKET/PREFIX/NAME?endpoint=URL',
    )
    .option('--at <time>', 'as it was at this time (default: before it last went)')
    .option('--to <path>', 'put it here, on the same drive (default: where it was)')
    .addOption(
      new Option('--data <dir>', 'the data folder to make from a backup: absent, or empty').conflicts([
        'at',
        'to',
      ]),
    )
    .option('--json', 'print JSON: {restored, left}; with --data what backup.json holds')
    .addHelpText('after', help)
    .action(async (path: string, { data, ...options }: RestoreCommandOptions) => {
      if (data !== undefined) return restoreService(path, data, options)
      const { runRestore } = await import('../run-undo.ts')
      return runRestore(path, options)
    })
}

async function restoreService(source: string, data: string, options: { json?: boolean }): Promise<void> {
  const { restoreBackup } = await import('../../service/backup/restore-backup.ts')
  const manifest = await restoreBackup(source, data)
  print(
    options,
    manifest,
    `${manifest.documents} documents in ${manifest.projects === 1 ? '1 project' : `${manifest.projects} projects`}, as of ${manifest.made_at}`,
  )
  reportDamaged(manifest)
}
