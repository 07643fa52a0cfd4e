// Work of `docmount service`: writes units, and asks systemctl to act on them.

import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { resolveMountpoint } from '../fuse/mountpoint.ts'
import { runTool } from '../run-tool.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
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

/** Longer than a unit may take to stop and to start anew (ms). */
const systemctlMs = (stopMinutes + 2) * 60_000

export interface DriveToMount {
  readonly project: string
  readonly mountpoint: string | undefined
  readonly mountOptions: readonly string[]
}

/**
 * Throws UsageError and DaemonError where the drive cannot be mounted, with the drive's own sentence; there is then what was there before.
 */
export async function installUnit(drive: DriveToMount, start: boolean): Promise<void> {
  const { project, mountOptions } = drive
  // The unit sees no environment of this shell's: what the drive needs has to be in the config file.
  const { baseUrl, key } = await readConfigFile(project)
  const hasUrl = baseUrl !== undefined || mountOptions.some((option) => option.startsWith('--base-url'))
  if (key === undefined || !hasUrl) {
    throw new UsageError(`the config file has no service and key for ${project}: run docmount login first`)
  }
  const given = drive.mountpoint === undefined ? undefined : await resolveMountpoint(drive.mountpoint)
  const mountpoint = given ?? (await resolveMountpoint(join(homeOf(), project)))
  // Where there is no user manager nothing is left behind.
  await systemctl('daemon-reload')
  const name = unitName(project)
  const units = await readUserUnits([name])
  await refuseOtherMount(project, mountpoint, units)
  const folder = unitFolder()
  const file = join(folder, name)
  const before = { text: await textOf(file), wasRunning: (find(units, name)?.pid ?? 0) !== 0 }
  await mkdir(folder, { recursive: true })
  const program = [process.execPath, await realpath(process.argv[1] as string)] as const
  const configFile = process.env['DOCMOUNT_CONFIG'] === undefined ? undefined : configFilePath()
  const text = unitText({ project, mountpoint: given, program, mountOptions, configFile })
  await writeFile(file, text)
  try {
    await systemctl('daemon-reload')
    if (start) await systemctl('restart', name)
  } catch (error) {
    const why = await whyNotStarted(name, error)
    await putBack(name, file, before)
    throw why
  }
  await systemctl('enable', name)
  if (start) console.log(`${project} is mounted at ${mountpoint}`)
  console.log(`${file} mounts ${project} at ${mountpoint} at every login`)
  console.log(`to have it mounted while you are not logged in: loginctl enable-linger ${userInfo().username}`)
}

/** The unit could not mount it, and would try for ever. */
async function refuseOtherMount(
  project: string,
  mountpoint: string,
  units: readonly UserUnit[],
): Promise<void> {
  const packaged = find(units, packagedUnitName(project))
  if (packaged?.isEnabled === true)
    throw new DaemonError(
      `${packaged.name} mounts ${project} at every login already; docmount service remove ${shellWord(project)} ends that`,
    )
  const found = (await findMounts()).find((each) => each.mountpoint === mountpoint && each.isDaemonAlive)
  const own = find(units, unitName(project))
  if (found?.record === undefined || found.record.pid === own?.pid) return
  throw new DaemonError(
    `${found.record.project} is mounted at ${mountpoint} already; run: docmount unmount ${shellWord(mountpoint)}, then this again`,
  )
}

/** In the drive's words, where it has told systemd. */
async function whyNotStarted(name: string, error: unknown): Promise<unknown> {
  const unit = find(await readUserUnits([name]), name)
  if (unit === undefined || unit.says === '') return error
  if (unit.exitCode === exitCodes.usage) return new UsageError(unit.says)
  return new DaemonError(unit.says, { isTemporary: unit.exitCode === exitCodes.temporary, cause: error })
}

async function putBack(
  name: string,
  file: string,
  { text, wasRunning }: { readonly text: string | undefined; readonly wasRunning: boolean },
): Promise<void> {
  await systemctl('stop', name)
  if (text === undefined) await rm(file, { force: true })
  else await writeFile(file, text)
  await systemctl('daemon-reload')
  await systemctl('reset-failed', name).catch(() => {})
  if (text !== undefined && wasRunning) await systemctl('start', name)
}

/** Ends both kinds: the unit of `service install`, and the package's. */
export async function removeUnit(project: string): Promise<void> {
  const own = unitName(project)
  const packaged = packagedUnitName(project)
  const file = join(unitFolder(), own)
  const hasFile = (await unitFiles()).includes(own)
  const units = await readUserUnits([packaged])
  const names = [hasFile && own, isInUse(find(units, packaged)) && packaged].filter((name) => name !== false)
  if (names.length === 0)
    throw new DaemonError(`${project} is not mounted at login: docmount service status shows what is`)
  await systemctl('disable', '--now', ...names)
  await rm(file, { force: true })
  await systemctl('daemon-reload')
  await systemctl('reset-failed', ...names).catch(() => {})
  console.log(
    `${project} is not mounted any more; what was not sent stays journaled and is sent by the next mount`,
  )
}

export async function showUnits({ json: isJson = false }: JsonOption): Promise<void> {
  const units = (await readUserUnits(await unitFiles())).filter(isInUse)
  if (isJson) {
    const shown = units.map(({ name, state, isEnabled, says }) => ({
      unit: name,
      state,
      enabled: isEnabled,
      reason: says,
    }))
    printJson(shown.map(({ reason, ...unit }) => (reason === '' ? unit : { ...unit, reason })))
    return
  }
  if (units.length === 0)
    console.log('no drive is mounted at login; docmount service install PROJECT makes one')
  for (const unit of units) console.log(unitLine(unit))
}

/** The package's template has a unit for every project; those count that somebody enabled or started. */
function isInUse(unit: UserUnit | undefined): boolean {
  return (
    unit !== undefined && (unit.name.startsWith('docmount-') || unit.isEnabled || unit.state !== 'inactive')
  )
}

function unitLine({ name, state, isEnabled, says }: UserUnit): string {
  const isOver = state === 'inactive' || state === 'failed'
  const next = isEnabled ? 'not mounted until the next login; ' : 'not mounted at login; '
  const remarks = [
    ...(state === 'active' || says === '' ? [] : [says]),
    ...(isOver ? [`${next}systemctl --user start ${shellWord(name)} mounts it now`] : []),
  ]
  return remarks.length === 0 ? `${name}: ${state}` : `${name}: ${state} (${remarks.join('; ')})`
}

/** For mount(8): the key has to be in root's config file. */
export async function printFstabLine({ project, mountpoint, mountOptions }: DriveToMount): Promise<void> {
  const { baseUrl } = await readConfigFile(project)
  const { uid, gid } = whoUsesIt()
  // Root's home is closed to everybody else.
  const usual = process.getuid?.() === 0 ? join('/mnt', project) : join(homeOf(), project)
  const place = await resolveMountpoint(mountpoint ?? usual)
  const words = [
    ...(baseUrl === undefined ? [] : [`base_url=${baseUrl}`]),
    ...optionListOf(mountOptions),
    // Root mounts it, and others are to get in.
    'allow_other',
    ...(uid === 0 ? [] : [`uid=${uid}`, `gid=${gid}`]),
    '_netdev',
    'nofail',
  ]
  console.log(`${octal(project)}:  ${octal(place)}  docmount  ${octal(words.join(','))}  0  0`)
}

/** The person, also one who came by sudo. */
function whoUsesIt(): { uid: number; gid: number } {
  const { uid, gid } = userInfo()
  const { SUDO_UID: sudoUid, SUDO_GID: sudoGid } = process.env
  const isSudo = uid === 0 && /^\d+$/.test(sudoUid ?? '') && /^\d+$/.test(sudoGid ?? '')
  return isSudo ? { uid: Number(sudoUid), gid: Number(sudoGid) } : { uid, gid }
}

/** Blanks end a field of fstab (fstab(5)). */
function octal(text: string): string {
  return text.replaceAll('\\', '\\134').replaceAll(' ', '\\040').replaceAll('\t', '\\011')
}

function find(units: readonly UserUnit[], name: string): UserUnit | undefined {
  return units.find((unit) => unit.name === name)
}

const unitFolder = (): string => join(xdgBase('config'), 'systemd', 'user')

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}

async function unitFiles(): Promise<readonly string[]> {
  const names = await readdir(unitFolder()).catch(() => [])
  return names.filter((name) => name.startsWith('docmount-') && name.endsWith('.service')).toSorted()
}

async function systemctl(...args: string[]): Promise<void> {
  const { code, stderr } = await runTool('systemctl', ['--user', ...args], { limitMs: systemctlMs }).catch(
    (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      const message = isMissing ? 'systemctl is missing: this machine has no systemd' : error.message
      throw new DaemonError(message, { cause: error })
    },
  )
  if (code === 0) return
  const why =
    code === null ? `no answer within ${systemctlMs / 1_000} s` : (stderr.trim().split('\n')[0] ?? '')
  const advice = /bus|booted with systemd/i.test(why) ? ' (log in as the user itself, not by su or sudo)' : ''
  throw new DaemonError(`systemctl --user ${args.join(' ')}: ${why}${advice}`)
}
