// The program's commands as plain data, from which completion scripts and the man page are generated.

import type { Command, Option } from 'commander'

export interface CommandOption {
  /** The long flag, then the short one if there is one: `--verbose`, `-v`. */
  readonly flags: readonly string[]
  /** The form that help shows: `--cache-ttl <duration>`. */
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
  /** Completion of the first argument: names of projects, or of drives (also their folders); undefined: neither. */
  readonly firstArgumentKind: NameKind | undefined
  /** True if an argument is a local file or folder. */
  readonly takesFiles: boolean
}

/** Returns all commands but `help`, in the order of `docmount --help`. */
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
    firstArgumentKind: firstArgumentKindOf(command),
    takesFiles: command.registeredArguments.some((argument) =>
      /path|file|dest|folder|mountpoint|source/i.test(argument.name()),
    ),
  }
}

function firstArgumentKindOf({ registeredArguments: [first] }: Command): NameKind | undefined {
  if (first?.name() === 'project') return 'projects'
  // A `path` that comes first lies on a drive; a path in a project comes second, after the project.
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
