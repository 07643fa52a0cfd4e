// Completion scripts for shells, generated from the command tree. To complete names of projects and drives, a script calls
// `docmount completion --names`, which does not ask the service.

import type { CommandNode, CommandOption } from './command-tree.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function completionScript(shell: Shell, commands: readonly CommandNode[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      // zsh runs bash's completion functions, and its own menus show what they found.
      return `#compdef docmount\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`
    case 'fish':
      return fishScript(commands)
  }
}

function bashScript(commands: readonly CommandNode[]): string {
  return `_docmount() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local place=\${COMP_WORDS[1]} words='' files=yes names='' from=2 at name
  COMPREPLY=()
  case "$place \${COMP_WORDS[2]}" in
${commands.flatMap(subcommandPlaces).join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} help' -- "$current"))
    return
  fi
  case "$place $previous" in
${commands.flatMap((command) => choiceCases(command, '')).join('\n')}
  esac
  case $place in
${commands.flatMap((command) => wordCases(command, '', '')).join('\n')}
  esac
  for ((at = from; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in -*) ;; *) names='' ;; esac
  done
  case $current in -*) names='' ;; esac
  if [ -n "$names" ]; then
    # compgen -W would expand $(…) in a name.
    while IFS= read -r name; do
      case $name in "$current"*) ;; *) continue ;; esac
      if [ "$names" = projects ]; then printf -v name %q "$name"; fi
      COMPREPLY+=("$name")
    done < <(docmount completion --names "$names" 2>/dev/null)
  fi
  if [ -n "$words" ]; then COMPREPLY+=($(compgen -W "$words" -- "$current")); fi
  case $current in -*) files=no ;; esac
  if [ "$files" = yes ]; then COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; fi
}
complete -F _docmount docmount
`
}

/** Cases that recognise a subcommand: `place` becomes both words (`keys create`), and its arguments begin at word 3 (`from`). */
function subcommandPlaces({ name, commands }: CommandNode): string[] {
  return commands.map(
    (command) =>
      `    '${name} ${command.name}') [ "$COMP_CWORD" -gt 2 ] && place='${name} ${command.name}' from=3 ;;`,
  )
}

/** Cases that complete the value behind an option with choices (`mount --driver`). `above`: `keys ` for a subcommand of `keys`. */
function choiceCases(command: CommandNode, above: string): string[] {
  const place = above + command.name
  const own = command.options
    .filter(({ choices }) => choices.length > 0)
    .flatMap(({ flags, choices }) =>
      flags.map(
        (flag) =>
          `    '${place} ${flag}') COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`,
      ),
    )
  return [...own, ...command.commands.flatMap((below) => choiceCases(below, `${place} `))]
}

/** Cases that set, per command, `words` (options or subcommands), `files=no` (no local file), `names` (kind of its argument). */
function wordCases(command: CommandNode, above: string, inherited: string): string[] {
  const place = above + command.name
  const options = [...command.options.flatMap(({ flags }) => flags), '--help'].join(' ') + inherited
  const names = command.commands.map(({ name }) => name).join(' ')
  const files = command.takesFiles ? '' : ' files=no'
  const first = command.firstArgumentKind === undefined ? '' : ` names=${command.firstArgumentKind}`
  const line = `    '${place}') case $current in -*) words='${options}' ;; *) words='${names}'${files}${first} ;; esac ;;`
  return [line, ...command.commands.flatMap((below) => wordCases(below, `${place} `, ''))]
}

function fishScript(commands: readonly CommandNode[]): string {
  const lines = ['complete -c docmount -f']
  for (const command of commands) {
    lines.push(
      `complete -c docmount -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.summary)}`,
    )
    const inCommand = `-n '__fish_seen_subcommand_from ${command.name}'`
    if (command.takesFiles) lines.push(`complete -c docmount ${inCommand} -F`)
    lines.push(...fishNames(command, inCommand))
    for (const option of command.options)
      lines.push(`complete -c docmount ${inCommand} ${fishOption(option)}`)
    for (const below of command.commands) {
      lines.push(`complete -c docmount ${inCommand} -a ${below.name} -d ${quoted(below.summary)}`)
      const inBelow = `-n '__fish_seen_subcommand_from ${command.name}; and __fish_seen_subcommand_from ${below.name}'`
      lines.push(...fishNames(below, inBelow))
      for (const option of below.options) lines.push(`complete -c docmount ${inBelow} ${fishOption(option)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function fishNames({ firstArgumentKind }: CommandNode, condition: string): string[] {
  if (firstArgumentKind === undefined) return []
  return [
    `complete -c docmount ${condition} -a '(docmount completion --names ${firstArgumentKind} 2>/dev/null)'`,
  ]
}

function fishOption({ flags, description, takesValue, choices }: CommandOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
  const value = choices.length > 0 ? ['-x', `-a '${choices.join(' ')}'`] : takesValue ? ['-r', '-F'] : []
  return [...names, ...value, `-d ${quoted(description)}`].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
