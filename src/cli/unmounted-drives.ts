// Drives that are not mounted but can be: those with unsent changes on this machine, and those of the config file. For
// `docmount mount --all` and the page of `docmount ui`.

import { execFile } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findDrivesOfHome } from '../daemon/find-mount.ts'
import { findLeftFolders, type LeftFolder } from '../daemon/left-behind.ts'
import { homeOf } from '../daemon/xdg.ts'
import { formatBytes } from '../amounts.ts'
import { printable } from '../printable.ts'
import type { UnmountedDrive } from '../ui/page-data.ts'
import { changeWords, plainReason, refusedWords } from '../ui/plain-words.ts'
import { CommandError } from './command-error.ts'
import { configuredProjects } from './config-file.ts'
import { firstTen } from './first-ten.ts'
import { leftLines, leftSummary, resumeArguments } from './left-text.ts'
import { reportError } from './report-error.ts'

const run = promisify(execFile)
/** Time limit of a mount, which may have to read many unsent changes from the journal. */
const limitMs = 120_000

/** `id`: the path of a state folder, or `project NAME` for a project of the config file. */
interface Mountable extends UnmountedDrive {
  /** Arguments of `docmount` that mount it; undefined for a state folder without its `drive.json`. */
  readonly args: readonly string[] | undefined
}

export async function unmounted(): Promise<readonly UnmountedDrive[]> {
  return (await mountable()).map(({ args: _args, ...drive }) => drive)
}

/**
 * Mounts the drive with this `Mountable.id`, or the one with this state folder whose daemon is gone. Resolves with a sentence.
 * Throws CommandError.
 */
export async function mount(id: string): Promise<string> {
  const gone = (await findDrivesOfHome()).find(
    ({ record, isDaemonAlive }) => !isDaemonAlive && record.stateDir === id,
  )
  const args =
    gone === undefined
      ? (await mountable()).find((drive) => drive.id === id)?.args
      : resumeArguments(gone.record)
  if (args === undefined) throw new CommandError('this drive is mounted by now, or nobody knows it any more')
  return mountBy(args)
}

/** Mounts all of them, one after another; if one fails, continues with the others, and sets the exit code. */
export async function mountAll(): Promise<void> {
  const drives = await mountable()
  if (drives.length === 0)
    console.error('docmount: there is nothing to mount: docmount login makes projects known')
  for (const { args } of drives) {
    if (args === undefined) continue
    try {
      console.log(await mountBy(args))
    } catch (error) {
      process.exitCode = reportError(error)
    }
  }
}

async function mountBy(args: readonly string[]): Promise<string> {
  // Resolved, because under the name mount.docmount it would expect mount(8)'s arguments.
  const script = await realpath(process.argv[1] as string)
  try {
    // The environment is inherited, since the key may be in it.
    const { stdout } = await run(process.execPath, [script, ...args], { cwd: '/', timeout: limitMs })
    return stdout.trim().split('\n')[0] ?? ''
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const why = stderr.replace(/^docmount: /, '').trim()
    throw new CommandError(why || 'the drive could not be mounted in time', { cause: error })
  }
}

async function mountable(): Promise<readonly Mountable[]> {
  const drives = await findDrivesOfHome()
  const isServed = (stateDir: string): boolean => drives.some(({ record }) => record.stateDir === stateDir)
  const left = (await findLeftFolders()).filter(({ stateDir }) => !isServed(stateDir)).map(leftDrive)
  const known = new Set([
    ...drives.map(({ record }) => record.project),
    ...left.map(({ project }) => project),
  ])
  const configured = (await configuredProjects()).filter((project) => !known.has(project))
  return [...left, ...configured.map(configuredDrive)]
}

function leftDrive(folder: LeftFolder): Mountable {
  const { drive, stateDir } = folder
  return {
    id: stateDir,
    project: drive?.project ?? stateDir,
    place: drive?.mountpoint ?? '',
    left: leftInWords(folder),
    canMount: drive !== undefined,
    args: drive === undefined ? undefined : resumeArguments(drive),
  }
}

/** Returns the leftovers without the words of `docmount status`, for the page. */
function leftInWords({ left }: LeftFolder): string {
  const changes = left.unsent.map(({ path, action, state, bytes, lastError }) => {
    const words = state === 'refused' ? refusedWords[action] : changeWords[action]
    const size = bytes === 0 ? [] : [formatBytes(bytes)]
    const why = lastError === undefined ? [] : [plainReason(lastError)]
    return printable([path, words, ...size, ...why].join('  '))
  })
  const others = leftLines({ ...left, unsent: [] })
  return [plainReason(leftSummary(left)), ...firstTen([...changes, ...others])].join('\n')
}

function configuredDrive(project: string): Mountable {
  const args = ['mount', project]
  return {
    id: `project ${project}`,
    project,
    place: join(homeOf(), project),
    left: undefined,
    canMount: true,
    args,
  }
}
