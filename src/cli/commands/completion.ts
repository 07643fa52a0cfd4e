// `docmount completion`: prints a completion script for a shell.

import { Argument, type Command, Option } from 'commander'
import { nameKinds, type NameKind } from '../command-tree.ts'
import { shells, type Shell } from '../completion.ts'
import { UsageError } from '../usage-error.ts'

const help = `
Examples:
  $ docmount completion bash > ~/.local/share/bash-completion/completions/docmount
  $ docmount completion zsh  > ~/.zfunc/_docmount          with fpath+=~/.zfunc before compinit
  $ docmount completion fish > ~/.config/fish/completions/docmount.fish`

export function register(program: Command, makeProgram: () => Promise<Command>): void {
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Prints a script with which the shell completes commands, options and paths.')
    .addArgument(new Argument('[shell]', 'your shell').choices(shells))
    .addOption(new Option('--names <kind>', 'what the script asks').choices(nameKinds).hideHelp())
    .addHelpText('after', help)
    .action(async (shell: Shell | undefined, { names }: { names?: NameKind }) => {
      if (names !== undefined) {
        const { knownNames } = await import('../known-names.ts')
        for (const name of await knownNames(names)) console.log(name)
        return
      }
      if (shell === undefined) throw new UsageError(`which shell? One of ${shells.join(', ')}`)
      const { commandTree } = await import('../command-tree.ts')
      const { completionScript } = await import('../completion.ts')
      process.stdout.write(completionScript(shell, commandTree(await makeProgram())))
    })
}
