// A replay: a child process makes, through the mount, the calls by which other clients' changes would have come about here, and the
// kernel tells those who watch the folder. The drive knows the child by its process id, and answers without changing anything.
//
// The child never acts on anything but the folder meant, whatever is mounted there meanwhile: it enters the folder, asks for a name
// made up for this replay, which the drive says is there to this process alone, and only then begins.

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

/** A program and the names it is given, all of one folder. */
export interface Step {
  readonly command: readonly string[]
  readonly findings: readonly Finding[]
}

/** Most names of one program. */
const mostNames = 200
/** The folder itself, of which too much has changed to tell it all. */
const folderItself: Step = { command: ['touch', '-c', '--', '.'], findings: [] }

/** The programs that replay `findings`: what is gone first. Of more than `most`, only that the folder has changed. */
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
    // To the length it has: CREATE where it is new, MODIFY, CLOSE_WRITE.
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
  /** Name by which the child knows the drive. */
  readonly token: string = `.docmount-${randomBytes(16).toString('hex')}`
  /** Changes that are still to be made to happen, by name. */
  readonly findings: Map<string, Finding>
  /** Documents that the child has come to by their names. */
  readonly reached: Set<number> = new Set()
  /** Resolves with the exit code, which may be a key of `failures`. */
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess

  /** Starts the child, which answers no call before this returns. `path`: the folder, through the mount. */
  constructor(folder: number, path: string, { command, findings }: Step) {
    this.folder = folder
    this.findings = new Map(findings.map((finding) => [finding.name, finding]))
    const env = childEnvironment()
    const child = spawn('/bin/sh', ['-c', script, 'docmount-replay', path, this.token, ...command], {
      cwd: '/',
      // No program of a folder in the mount.
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

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Findings that did not happen at all: one that was opened without being made is told of as changed. */
  get missed(): readonly Finding[] {
    return [...this.findings.values()].filter(
      ({ what, kind }) => what === 'gone' || (what === 'made' && kind === 'folder'),
    )
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
