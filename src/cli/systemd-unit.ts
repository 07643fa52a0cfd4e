// The systemd user unit of a drive, as text. Needs nothing of the shell it is started from: absolute paths, and service
// and key from the config file.

export interface UnitParts {
  readonly project: string
  /** Absolute. */
  readonly mountpoint: string
  /** Absolute: the Node.js and the script that run docmount now. */
  readonly program: readonly [string, string]
  /** More arguments for `docmount mount`. */
  readonly mountOptions: readonly string[]
  /** Where the config file is, when that is not the usual place. */
  readonly configFile: string | undefined
}

/** How long a unit may take to stop, which sends what is left: a minute longer than `docmount unmount` takes. */
export const stopMinutes: number = 11

/** `docmount-PROJECT.service`, with what a unit's name cannot hold written as systemd does (systemd-escape). */
export function unitName(project: string): string {
  const escaped = [...Buffer.from(project)]
    .map((byte, index) => {
      const char = String.fromCharCode(byte)
      if (char === '/') return '-'
      const isPlain = /[a-zA-Z0-9:_]/.test(char) || (char === '.' && index > 0)
      return isPlain ? char : `\\x${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
  return `docmount-${escaped}.service`
}

export function unitText({ project, mountpoint, program, mountOptions, configFile }: UnitParts): string {
  const docmount = program.map(quoted).join(' ')
  const mount = ['mount', project, mountpoint, '--foreground', ...mountOptions].map(quoted).join(' ')
  const config = configFile === undefined ? '' : `Environment=${quoted(`DOCMOUNT_CONFIG=${configFile}`)}\n`
  return `[Unit]
Description=docmount drive ${specifiersEscaped(project)}
# A machine without network, or a service that is away, is no reason to give up.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=all
${config}ExecStart=${docmount} ${mount}
ExecStop=${docmount} unmount ${quoted(mountpoint)}
# Stopping sends what is left.
TimeoutStopSec=${stopMinutes}min
Restart=on-failure
RestartSec=5

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
