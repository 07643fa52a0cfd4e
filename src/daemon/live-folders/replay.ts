// A replay: a child process makes, through the mount, the calls (rm, mkdir, …) that would have caused other clients' changes, and
// the kernel reports them to programs that watch the folder. The drive knows the child by its process id, answers its calls with
// success, and changes nothing (replayed-calls.ts).
//
// If something else is mounted at the path by now, the child must not delete files there. So it enters the folder, and goes on only
// if a random name (`token`), which the drive shows to this process alone, exists in it.

import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { childEnvironment } from '../../child-environment.ts'
import type { Finding } from '../../fs/operations.ts'

const notInDrive = 4
const script = `cd -- "$1" || exit; [ -e "./$2" ] || exit ${notInDrive}; shift 2; exec "$@"`
/** Exit codes of a child that did nothing, with the reason. */
export const failures: ReadonlyMap<number | null, string> = new Map([
  [notInDrive, 'the path of its folder does not lead into the drive'],
  [127, 'a program is missing: install coreutils'],
])
/** Longest run: one that hangs is killed. */
const limitMs = 10_000

/** One run of a program (`rm -f -- ./a ./b`), and the changes that it replays, all of one folder. */
export interface Step {
  readonly command: readonly string[]
  readonly findings: readonly Finding[]
}

/** Most names in the arguments of one program. */
const mostNames = 200
/** One event for the folder itself, when too many of its names have changed. */
const folderItself: Step = { command: ['touch', '-c', '--', '.'], findings: [] }

/** Returns the programs that replay `findings`, deletions first. For more than `most`, only the one that touches the folder. */
export function stepsOf(findings: readonly Finding[], most: number): Step[] {
  if (findings.length > most) return [folderItself]
  const isOf =
    (kind: Finding['kind'], ...whats: readonly Finding['what'][]) =>
    (finding: Finding) =>
      finding.kind === kind && whats.includes(finding.what)
  const groups = [
    [['rm', '-f'], isOf('file', 'gone')],
    [['rmdir'], isOf('folder', 'gone')],
    [['mkdir'], isOf('folder', 'made')],
    // "Truncates" to the present length. Inotify events: CREATE for a new file, then MODIFY and CLOSE_WRITE.
    [['truncate', '-s', '+0'], isOf('file', 'made', 'changed')],
  ] as const
  return groups.flatMap(([program, isMeant]) => {
    const meant = findings.filter(isMeant)
    const steps: Step[] = []
    for (let at = 0; at < meant.length; at += mostNames) {
      const some = meant.slice(at, at + mostNames)
      steps.push({ command: [...program, '--', ...some.map(({ name }) => `./${name}`)], findings: some })
    }
    return steps
  })
}

export class Replay {
  readonly folder: number
  /** Name by which the child recognizes the drive. */
  readonly token: string = `.docmount-${randomBytes(16).toString('hex')}`
  /** Changes not replayed yet, by name; replayed-calls.ts removes each when its call has come. */
  readonly findings: Map<string, Finding>
  /** Inode numbers that the child has looked up or made. */
  readonly reached: Set<number> = new Set()
  /** Resolves with the exit code, which may be a key of `failures`. */
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess

  /** Starts the child. `path`: of the folder, through the mount. */
  constructor(folder: number, path: string, { command, findings }: Step) {
    this.folder = folder
    this.findings = new Map(findings.map((finding) => [finding.name, finding]))
    const env = childEnvironment()
    const child = spawn('/bin/sh', ['-c', script, 'docmount-replay', path, this.token, ...command], {
      cwd: '/',
      // No program is taken from a folder in the mount.
      env: { ...env, PATH: `/usr/bin:/bin:${env['PATH'] ?? ''}`, LC_ALL: 'C' },
      stdio: 'ignore',
    })
    this.#child = child
    const timer = setTimeout(() => this.kill(), limitMs)
    this.ended = new Promise((resolve) => {
      child.once('error', () => resolve(null))
      child.once('exit', resolve)
    })
    void this.ended.then(() => clearTimeout(timer))
  }

  /** Undefined if the child could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Findings without any event. A new file that was opened, not created, is not among them: watchers heard that it changed. */
  get missed(): readonly Finding[] {
    return [...this.findings.values()].filter(
      ({ what, kind }) => what === 'gone' || (what === 'made' && kind === 'folder'),
    )
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
