// The systemd user units that mount drives: `docmount-PROJECT.service` is made by `docmount service install`,
// `docmount@PROJECT.service` belongs to the Debian package.

import { runTool } from '../run-tool.ts'

export interface UserUnit {
  readonly name: string
  /** systemd's ActiveState: active, activating, inactive, failed, … */
  readonly state: string
  /** True if it starts at the next login. */
  readonly isEnabled: boolean
  /** Process id of the daemon; 0 if none runs. */
  readonly pid: number
  /** Exit code of the last daemon that ended. */
  readonly exitCode: number
  /** Last sentence of `setSystemdStatus`: why the drive did not start, or what stayed unsent; may be empty. */
  readonly statusText: string
}

const properties = [
  'Id',
  'LoadState',
  'ActiveState',
  'UnitFileState',
  'MainPID',
  'ExecMainStatus',
  'StatusText',
]
const everyDrive = ['docmount-*.service', 'docmount@*.service']
/** Timeout of systemctl, after which the list is empty. */
const limitMs = 10_000

/** Resolves with all such units, and those in `names` that exist. Empty if there is no systemd or user manager. */
export async function readUserUnits(names: readonly string[] = []): Promise<readonly UserUnit[]> {
  const args = [
    '--user',
    'show',
    '--all',
    `--property=${properties.join(',')}`,
    '--',
    ...names,
    ...everyDrive,
  ]
  const { stdout } = await runTool('systemctl', args, { limitMs }).catch(() => ({ stdout: '' }))
  const units = new Map<string, UserUnit>()
  for (const block of stdout.split('\n\n')) {
    const fields = new Map(block.split('\n').map((line) => splitAt(line, line.indexOf('='))))
    if (fields.get('LoadState') !== 'loaded') continue
    const name = fields.get('Id') ?? ''
    units.set(name, {
      name,
      state: fields.get('ActiveState') ?? '',
      isEnabled: fields.get('UnitFileState')?.startsWith('enabled') === true,
      pid: Number(fields.get('MainPID')),
      exitCode: Number(fields.get('ExecMainStatus')),
      statusText: fields.get('StatusText') ?? '',
    })
  }
  return [...units.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Resolves with the unit whose daemon has this process id. */
export async function userUnitOf(pid: number): Promise<UserUnit | undefined> {
  return (await readUserUnits()).find((unit) => unit.pid === pid)
}

function splitAt(line: string, at: number): [string, string] {
  return [line.slice(0, at), line.slice(at + 1)]
}
