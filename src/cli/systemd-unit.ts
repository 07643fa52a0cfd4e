// The text of a drive's systemd user unit. All paths in it are absolute, and URL and key come from the config file, because a unit
// has no environment of a shell.

import { exitCodes } from './exit-codes.ts'
import { shellWord } from './shell-word.ts'

export interface UnitParts {
  readonly project: string
  /** Absolute; undefined: ~/PROJECT, which the drive makes. */
  readonly mountpoint: string | undefined
  /** Absolute paths of Node.js and of docmount's script. */
  readonly program: readonly [string, string]
  /** More arguments for `docmount mount`. */
  readonly mountOptions: readonly string[]
  /** Path of the config file; undefined: the default one. */
  readonly configFile: string | undefined
}

/** Time limit for a stop, which sends unsent changes first: a minute more than the default of `docmount unmount`. */
export const stopMinutes: number = 11

/** Message when a drive is unmounted that a unit mounts again at the next login. */
export function untilLoginText(project: string): string {
  return `${project} stays unmounted until the next login; docmount service remove ${shellWord(project)} ends it`
}

/** Returns the name of the unit that `docmount service install` writes: `docmount-PROJECT.service`. */
export function unitName(project: string): string {
  return `docmount-${escaped(project)}.service`
}

/** Returns the name of the Debian package's unit: `docmount@PROJECT.service`. */
export function packagedUnitName(project: string): string {
  return `docmount@${escaped(project)}.service`
}

/** Escapes characters that a unit's name cannot have, as systemd-escape does. */
function escaped(project: string): string {
  return [...Buffer.from(project)]
    .map((byte, index) => {
      const char = String.fromCharCode(byte)
      if (char === '/') return '-'
      const isPlain = /[a-zA-Z0-9:_]/.test(char) || (char === '.' && index > 0)
      return isPlain ? char : `\\x${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
}

export function unitText({ project, mountpoint, program, mountOptions, configFile }: UnitParts): string {
  const docmount = program.map(quoted).join(' ')
  const place = mountpoint === undefined ? [] : [mountpoint]
  const mount = ['mount', project, ...place, '--foreground', ...mountOptions].map(quoted).join(' ')
  const config = configFile === undefined ? '' : `Environment=${quoted(`DOCMOUNT_CONFIG=${configFile}`)}\n`
  return `[Unit]
Description=docmount drive ${specifiersEscaped(project)}
# A machine without network, or a service that is away, is no reason to give up.
StartLimitIntervalSec=0
# A docmount that was removed is not looked for every five seconds.
${program.map((file) => `ConditionPathExists=${specifiersEscaped(file)}`).join('\n')}

[Service]
Type=notify
NotifyAccess=all
${config}ExecStart=${docmount} ${mount}
# The drive is stopped by SIGTERM, which has it send what is left. ExecStop would run, and fail, also when the drive has ended.
TimeoutStopSec=${stopMinutes}min
Restart=on-failure
RestartSec=5
# Wrong usage stays wrong; and a drive that was unmounted with something unsent was unmounted.
RestartPreventExitStatus=${exitCodes.usage} ${exitCodes.unsent}

[Install]
WantedBy=default.target
`
}

/** Quotes a word for a command line in a unit: systemd must not expand variables or specifiers in it. */
function quoted(word: string): string {
  const escaped = specifiersEscaped(word)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`
}

function specifiersEscaped(text: string): string {
  return text.replaceAll('%', '%%')
}
