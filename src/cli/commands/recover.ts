// `docmount recover`: copies content out of a drive, as this machine has it.

import { type Command, Option } from 'commander'
import { withJsonAnswer } from '../output.ts'
import { printable } from '../../printable.ts'
import { quietOption } from '../progress.ts'
import { UsageError } from '../usage-error.ts'

interface RecoverOptions {
  readonly quiet?: boolean
  readonly lost?: boolean
  readonly all?: boolean
  readonly json?: boolean
}

export function register(program: Command): void {
  program
    .command('recover')
    .summary('copy what is not sent yet to a safe place')
    .description(
      'Copies the content at a path, as this machine has it, to a local file outside the drive. With --lost: moves ' +
        'everything that is in lost+found (docmount status names it) to a local folder, under its paths. With --all: ' +
        'copies everything that is not sent, of all your drives, mounted or not, to a local folder.',
    )
    .argument('<path>', 'a path on a drive; with --all the folder')
    .argument('[destination]', 'the local file to write; with --lost the folder')
    .addOption(new Option('--lost', 'take out what is in lost+found').conflicts('all'))
    .option('--all', 'copy everything that is not sent, of every drive')
    .option(...quietOption)
    .option('--json', 'print JSON: {files}, the paths of the copies')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docmount recover ~/acme/report.pdf ~/report.pdf\n  $ docmount recover --lost ~/acme ~/found' +
        '\n  $ docmount recover --all ~/rescued',
    )
    .action(async (path: string, destination: string | undefined, options: RecoverOptions) => {
      await withJsonAnswer(options, async () => {
        const files: string[] = []
        const onCopied = (file: string): void => {
          files.push(file)
          if (options.json !== true) console.log(printable(file))
        }
        await recover(path, destination, options, onCopied)
        return { files }
      })
    })
}

async function recover(
  path: string,
  destination: string | undefined,
  { all, lost, quiet: isQuiet = false }: RecoverOptions,
  onCopied: (file: string) => void,
): Promise<void> {
  const { runRecover, runRecoverLost } = await import('../run-recover.ts')
  if (all === true) {
    if (destination !== undefined) throw new UsageError('--all takes one folder, for everything')
    const { runRecoverAll } = await import('../run-recover-all.ts')
    await runRecoverAll(path, isQuiet, onCopied)
    return
  }
  if (destination === undefined) throw new UsageError('where to? Add the local file to write')
  if (lost === true) await runRecoverLost(path, destination, onCopied)
  else await runRecover(path, destination, { isQuiet, onCopied })
}
