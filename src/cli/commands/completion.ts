// `docmount completion`: a script for the shell.

import { Argument, type Command } from 'commander'
import { shells, type Shell } from '../completion.ts'

const help = `
Examples:
  $ docmount completion bash > ~/.local/share/bash-completion/completions/docmount
  $ docmount completion zsh  > ~/.zfunc/_docmount          with fpath+=~/.zfunc before compinit
  $ docmount completion fish > ~/.config/fish/completions/docmount.fish`

export function register(program: Command, whole: () => Promise<Command>): void {
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Prints a script with which the shell completes commands, options and paths.')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText('after', help)
    .action(async (shell: Shell) => {
      const { commandTree } = await import('../command-tree.ts')
      const { completionScript } = await import('../completion.ts')
      process.stdout.write(completionScript(shell, commandTree(await whole())))
    })
}
