// Implements `docmount service`: writes, shows and removes systemd user units, and the line for fstab.

import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { ignoreMissing } from '../content/disk/enoent-tolerant.ts'
import { resolveMountpoint } from '../fuse/mountpoint.ts'
import { runTool } from '../run-tool.ts'
import { CommandError } from './command-error.ts'
import { findMounts } from '../daemon/find-mount.ts'
import { readUserUnits, type UserUnit } from '../daemon/user-units.ts'
import { homeOf, xdgBase } from '../daemon/xdg.ts'
import { configFilePath, readConfigFile } from './config-file.ts'
import { exitCodes } from './exit-codes.ts'
import { optionListOf } from './mount-helper.ts'
import { type JsonOption, printJson } from './output.ts'
import { shellWord } from './shell-word.ts'
import { packagedUnitName, stopMinutes, unitName, unitText } from './systemd-unit.ts'
import { UsageError } from './usage-error.ts'

/** Longest run of systemctl (ms): a unit may take `stopMinutes` to stop, and then starts. */
const systemctlMs = (stopMinutes + 2) * 60_000

export interface DriveToMount {
  readonly project: string
  /** Undefined: the folder with the project's name in the home folder. */
  readonly mountpoint: string | undefined
  /** Options of `docmount mount`, as on the command line. */
  readonly mountOptions: readonly string[]
}

/**
 * Makes a unit that mounts the drive at every login, and with `start` mounts it now. Throws UsageError or CommandError; if the drive
 * cannot be mounted, with the drive's own message, and with the former unit restored.
 */
export async function installUnit(drive: DriveToMount, start: boolean): Promise<void> {
  const { project, mountOptions } = drive
  await checkConfigured(drive)
  // Without an own mountpoint, the unit names none: the drive chooses the same one.
  const ownMountpoint = drive.mountpoint === undefined ? undefined : await resolveMountpoint(drive.mountpoint)
  const mountpoint = ownMountpoint ?? (await resolveMountpoint(join(homeOf(), project)))
  // Fails before anything is written if there is no systemd user manager.
  await systemctl('daemon-reload')
  const name = unitName(project)
  // The units of all drives, and this one even if it is not loaded.
  const units = await readUserUnits([name])
  await checkNotMountedOtherwise(project, mountpoint, units)
  const program = [process.execPath, await realpath(process.argv[1] as string)] as const
  const configFile = process.env['DOCMOUNT_CONFIG'] === undefined ? undefined : configFilePath()
  const text = unitText({ project, mountpoint: ownMountpoint, program, mountOptions, configFile })
  const wasRunning = (find(units, name)?.pid ?? 0) !== 0
  const file = await replaceUnit(name, text, { start, wasRunning })
  await systemctl('enable', name)
  if (start) console.log(`${project} is mounted at ${mountpoint}`)
  console.log(`${file} mounts ${project} at ${mountpoint} at every login`)
  console.log(`to have it mounted while you are not logged in: loginctl enable-linger ${userInfo().username}`)
}

/** Throws UsageError if the config file lacks URL or key: a unit does not have this shell's environment. */
async function checkConfigured({ project, mountOptions }: DriveToMount): Promise<void> {
  const { baseUrl, key } = await readConfigFile(project)
  const hasUrl = baseUrl !== undefined || mountOptions.some((option) => option.startsWith('--base-url'))
  if (key === undefined || !hasUrl) {
    throw new UsageError(`the config file has no service and key for ${project}: run docmount login first`)
  }
}

/** Writes the unit's file, and starts the unit with `start`. Returns the file. If that fails, restores what was there before. */
async function replaceUnit(
  name: string,
  text: string,
  { start, wasRunning }: { readonly start: boolean; readonly wasRunning: boolean },
): Promise<string> {
  const file = join(unitFolder(), name)
  const formerText = await textOf(file)
  await mkdir(unitFolder(), { recursive: true })
  await writeFile(file, text)
  try {
    await systemctl('daemon-reload')
    if (start) await systemctl('restart', name)
    return file
  } catch (error) {
    const reason = await startErrorOf(name, error).catch(() => error)
    await restoreUnit(name, file, { formerText, wasRunning }).catch((failure: unknown) =>
      console.error(`docmount: ${name} is not as it was before: ${(failure as Error).message}`),
    )
    throw reason
  }
}

/** Throws CommandError if another unit or process has mounted the drive: this unit would fail and restart for ever. */
async function checkNotMountedOtherwise(
  project: string,
  mountpoint: string,
  units: readonly UserUnit[],
): Promise<void> {
  const packaged = find(units, packagedUnitName(project))
  if (packaged?.isEnabled === true)
    throw new CommandError(
      `${packaged.name} mounts ${project} at every login already; docmount service remove ${shellWord(project)} ends that`,
    )
  const found = (await findMounts()).find((each) => each.mountpoint === mountpoint && each.isDaemonAlive)
  const own = find(units, unitName(project))
  if (found?.record === undefined || found.record.pid === own?.pid) return
  throw new CommandError(
    `${found.record.project} is mounted at ${mountpoint} already; run: docmount unmount ${shellWord(mountpoint)}, then this again`,
  )
}

/** Returns an error with the message that the drive has sent to systemd, else `error`. */
async function startErrorOf(name: string, error: unknown): Promise<unknown> {
  const unit = find(await readUserUnits([name]), name)
  if (unit === undefined || unit.statusText === '') return error
  if (unit.exitCode === exitCodes.usage) return new UsageError(unit.statusText)
  return new CommandError(unit.statusText, {
    isTemporary: unit.exitCode === exitCodes.temporary,
    cause: error,
  })
}

/** Puts the former unit's file back, and starts it if it ran; without a former one, removes the file. */
async function restoreUnit(
  name: string,
  file: string,
  { formerText, wasRunning }: { readonly formerText: string | undefined; readonly wasRunning: boolean },
): Promise<void> {
  // First, since systemd may refuse the rest.
  if (formerText === undefined) await rm(file, { force: true })
  else await writeFile(file, formerText)
  await systemctl('stop', name)
  await systemctl('daemon-reload')
  await systemctl('reset-failed', name).catch(() => {})
  if (formerText !== undefined && wasRunning) await systemctl('start', name)
}

/** Stops and removes the unit of `service install`, and disables the package's unit for the project. */
export async function removeUnit(project: string): Promise<void> {
  const own = unitName(project)
  const packaged = packagedUnitName(project)
  const file = join(unitFolder(), own)
  const hasFile = (await unitFiles()).includes(own)
  const units = await readUserUnits([packaged])
  const names = [hasFile && own, isInUse(find(units, packaged)) && packaged].filter((name) => name !== false)
  if (names.length === 0)
    throw new CommandError(`${project} is not mounted at login: docmount service status shows what is`)
  await systemctl('disable', '--now', ...names)
  await rm(file, { force: true })
  await systemctl('daemon-reload')
  await systemctl('reset-failed', ...names).catch(() => {})
  console.log(
    `${project} is not mounted any more; what was not sent stays journaled and is sent by the next mount`,
  )
}

/** Prints the units that mount a drive at login, each with its state and, after a failure, the drive's message. */
export async function showUnits({ json: isJson = false }: JsonOption): Promise<void> {
  const units = (await readUserUnits(await unitFiles())).filter(isInUse)
  if (isJson) {
    const shown = units.map(({ name, state, isEnabled, statusText }) => ({
      unit: name,
      state,
      enabled: isEnabled,
      reason: statusText,
    }))
    printJson(shown.map(({ reason, ...unit }) => (reason === '' ? unit : { ...unit, reason })))
    return
  }
  if (units.length === 0)
    console.log('no drive is mounted at login; docmount service install PROJECT makes one')
  for (const unit of units) console.log(unitLine(unit))
}

/** The package's template makes a unit for every project name, so only enabled or started ones count. */
function isInUse(unit: UserUnit | undefined): boolean {
  return (
    unit !== undefined && (unit.name.startsWith('docmount-') || unit.isEnabled || unit.state !== 'inactive')
  )
}

function unitLine({ name, state, isEnabled, statusText }: UserUnit): string {
  const isOver = state === 'inactive' || state === 'failed'
  const next = isEnabled ? 'not mounted until the next login; ' : 'not mounted at login; '
  const remarks = [
    ...(state === 'active' || statusText === '' ? [] : [statusText]),
    ...(isOver ? [`${next}systemctl --user start ${shellWord(name)} mounts it now`] : []),
  ]
  return remarks.length === 0 ? `${name}: ${state}` : `${name}: ${state} (${remarks.join('; ')})`
}

/** Prints the drive's line for /etc/fstab. The key has to be in root's config file. */
export async function printFstabLine({ project, mountpoint, mountOptions }: DriveToMount): Promise<void> {
  const { baseUrl } = await readConfigFile(project)
  const { uid, gid } = userIds()
  // Not in root's home, which others cannot enter.
  const defaultPlace = process.getuid?.() === 0 ? join('/mnt', project) : join(homeOf(), project)
  const place = await resolveMountpoint(mountpoint ?? defaultPlace)
  const words = [
    ...(baseUrl === undefined ? [] : [`base_url=${baseUrl}`]),
    ...optionListOf(mountOptions),
    // Root mounts it, for other users.
    'allow_other',
    ...(uid === 0 ? [] : [`uid=${uid}`, `gid=${gid}`]),
    '_netdev',
    'nofail',
  ]
  console.log(`${octal(project)}:  ${octal(place)}  docmount  ${octal(words.join(','))}  0  0`)
}

/** Returns the ids of the user, also under sudo. */
function userIds(): { uid: number; gid: number } {
  const { uid, gid } = userInfo()
  const { SUDO_UID: sudoUid, SUDO_GID: sudoGid } = process.env
  const isSudo = uid === 0 && /^\d+$/.test(sudoUid ?? '') && /^\d+$/.test(sudoGid ?? '')
  return isSudo ? { uid: Number(sudoUid), gid: Number(sudoGid) } : { uid, gid }
}

/** Escapes blanks, tabs and backslashes as fstab(5) wants it. */
function octal(text: string): string {
  return text.replaceAll('\\', '\\134').replaceAll(' ', '\\040').replaceAll('\t', '\\011')
}

function find(units: readonly UserUnit[], name: string): UserUnit | undefined {
  return units.find((unit) => unit.name === name)
}

const unitFolder = (): string => join(xdgBase('config'), 'systemd', 'user')

/** The text of a file; undefined where there is none. Throws the system's other errors. */
async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(ignoreMissing)
}

async function unitFiles(): Promise<readonly string[]> {
  const names = (await readdir(unitFolder()).catch(ignoreMissing)) ?? []
  return names.filter((name) => name.startsWith('docmount-') && name.endsWith('.service')).toSorted()
}

async function systemctl(...args: string[]): Promise<void> {
  const { code, stderr } = await runTool('systemctl', ['--user', ...args], { limitMs: systemctlMs }).catch(
    (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      const message = isMissing ? 'systemctl is missing: this machine has no systemd' : error.message
      throw new CommandError(message, { cause: error })
    },
  )
  if (code === 0) return
  const why =
    code === null ? `no answer within ${systemctlMs / 1_000} s` : (stderr.trim().split('\n')[0] ?? '')
  const advice = /bus|booted with systemd/i.test(why) ? ' (log in as the user itself, not by su or sudo)' : ''
  throw new CommandError(`systemctl --user ${args.join(' ')}: ${why}${advice}`)
}
