// The program's commands as plain data, for whoever writes them down: completion scripts, the man page.

import type { Command, Option } from 'commander'

export interface CommandOption {
  /** `--cache-ttl`, then `-v` where it has one. */
  readonly flags: readonly string[]
  /** As help shows it: `--cache-ttl <duration>`. */
  readonly usage: string
  readonly description: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

export interface CommandArgument {
  /** `<shell>` */
  readonly usage: string
  readonly description: string
  readonly choices: readonly string[]
}

export const nameKinds = ['projects', 'drives'] as const
export type NameKind = (typeof nameKinds)[number]

export interface CommandNode {
  readonly name: string
  /** `mount [options] <project> [mountpoint]` */
  readonly usage: string
  readonly summary: string
  readonly description: string
  readonly arguments: readonly CommandArgument[]
  readonly options: readonly CommandOption[]
  readonly commands: readonly CommandNode[]
  /** Whose names its first argument is: those of projects, or of drives (their folders, too). */
  readonly firstTakes: NameKind | undefined
  /** Names of projects, shells and the like are not files. */
  readonly takesFiles: boolean
}

/** Everything below the program, in the order of its help. */
export function commandTree(program: Command): readonly CommandNode[] {
  return program.commands.filter((command) => command.name() !== 'help').map(nodeOf)
}

function nodeOf(command: Command): CommandNode {
  return {
    name: command.name(),
    usage: `${command.name()} ${command.usage()}`,
    summary: command.summary(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      usage: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      description: argument.description,
      choices: argument.argChoices ?? [],
    })),
    options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
    commands: commandTree(command),
    firstTakes: firstTakesOf(command),
    takesFiles: command.registeredArguments.some((argument) =>
      /path|file|dest|folder|mountpoint|source/i.test(argument.name()),
    ),
  }
}

function firstTakesOf({ registeredArguments: [first] }: Command): NameKind | undefined {
  if (first?.name() === 'project') return 'projects'
  // A path in a project stands behind the project.
  return first?.name() === 'drive' || first?.name() === 'path' ? 'drives' : undefined
}

function optionOf(option: Option): CommandOption {
  return {
    flags: [option.long, option.short].filter((flag) => typeof flag === 'string'),
    usage: option.flags,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  }
}
