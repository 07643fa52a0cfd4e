// The drives that this user's systemd mounts, as systemd tells of them: `docmount-PROJECT.service` is of `docmount service install`,
// `docmount@PROJECT.service` of the Debian package.

import { runTool } from '../run-tool.ts'

export interface UserUnit {
  readonly name: string
  /** systemd's word: active, activating, inactive, failed, … */
  readonly state: string
  /** Started at the next login. */
  readonly isEnabled: boolean
  /** The drive's daemon; 0 where none runs. */
  readonly pid: number
  /** With which exit code the daemon ended last. */
  readonly exitCode: number
  /** Why the drive did not start, or what it left; empty while there is nothing to say. */
  readonly says: string
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
/** A manager that does not answer is none. */
const limitMs = 10_000

/** Those that systemd knows of, and of `names` those that there are. Empty where there is no systemd, or no user manager. */
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
    const of = new Map(block.split('\n').map((line) => splitAt(line, line.indexOf('='))))
    if (of.get('LoadState') !== 'loaded') continue
    const name = of.get('Id') ?? ''
    units.set(name, {
      name,
      state: of.get('ActiveState') ?? '',
      isEnabled: of.get('UnitFileState')?.startsWith('enabled') === true,
      pid: Number(of.get('MainPID')),
      exitCode: Number(of.get('ExecMainStatus')),
      says: of.get('StatusText') ?? '',
    })
  }
  return [...units.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** The unit whose daemon has this process id. */
export async function userUnitOf(pid: number): Promise<UserUnit | undefined> {
  return (await readUserUnits()).find((unit) => unit.pid === pid)
}

function splitAt(line: string, at: number): [string, string] {
  return [line.slice(0, at), line.slice(at + 1)]
}
