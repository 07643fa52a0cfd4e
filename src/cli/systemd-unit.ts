// The systemd user unit of a drive, as text. Needs nothing of the shell it is started from: absolute paths, and service
// and key from the config file.

import { exitCodes } from './exit-codes.ts'
import { shellWord } from './shell-word.ts'

export interface UnitParts {
  readonly project: string
  /** Absolute; undefined: the usual place, which the drive makes. */
  readonly mountpoint: string | undefined
  /** Absolute: the Node.js and the script that run docmount now. */
  readonly program: readonly [string, string]
  /** More arguments for `docmount mount`. */
  readonly mountOptions: readonly string[]
  /** Where the config file is, when that is not the usual place. */
  readonly configFile: string | undefined
}

/** How long a unit may take to stop, which sends what is left: a minute longer than `docmount unmount` takes. */
export const stopMinutes: number = 11

/** Told to somebody who unmounts a drive that a unit starts. */
export function untilLogin(project: string): string {
  return `${project} stays unmounted until the next login; docmount service remove ${shellWord(project)} ends it`
}

/** Of `docmount service install`: `docmount-PROJECT.service`. */
export function unitName(project: string): string {
  return `docmount-${escaped(project)}.service`
}

/** Of the Debian package: `docmount@PROJECT.service`. */
export function packagedUnitName(project: string): string {
  return `docmount@${escaped(project)}.service`
}

/** Characters that a unit's name cannot hold, written as systemd does (systemd-escape). */
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

/** One word of a command line in a unit: no variable, no specifier, no quote of its own. */
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
