// What `docmount service` does: writes units, and asks systemctl to act on them.

import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { resolveMountpoint } from '../fuse/mountpoint.ts'
import { runTool } from '../run-tool.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { homeOf, xdgBase } from '../daemon/xdg.ts'
import { configFilePath, readConfigFile } from './config-file.ts'
import { optionListOf } from './mount-helper.ts'
import { type JsonOption, printJson } from './output.ts'
import { stopMinutes, unitName, unitText } from './systemd-unit.ts'
import { UsageError } from './usage-error.ts'

/** Longer than a unit may take to stop and to start anew (ms). */
const systemctlMs = (stopMinutes + 2) * 60_000

export interface DriveToMount {
  readonly project: string
  readonly mountpoint: string | undefined
  readonly mountOptions: readonly string[]
}

export async function installUnit(drive: DriveToMount, start: boolean): Promise<void> {
  const { project, mountOptions } = drive
  // The unit sees no environment of this shell's: what the drive needs has to be in the config file.
  const { baseUrl, key } = await readConfigFile(project)
  const hasUrl = baseUrl !== undefined || mountOptions.some((option) => option.startsWith('--base-url'))
  if (key === undefined || !hasUrl) {
    throw new UsageError(`the config file has no service and key for ${project}: run docmount login first`)
  }
  const mountpoint = await resolveMountpoint(drive.mountpoint ?? join(homeOf(), project))
  // Where there is no user manager nothing is left behind.
  await systemctl('daemon-reload')
  await mkdir(mountpoint, { recursive: true })
  const folder = join(xdgBase('config'), 'systemd', 'user')
  const name = unitName(project)
  await mkdir(folder, { recursive: true })
  const program = [process.execPath, await realpath(process.argv[1] as string)] as const
  const configFile = process.env['DOCMOUNT_CONFIG'] === undefined ? undefined : configFilePath()
  await writeFile(join(folder, name), unitText({ project, mountpoint, program, mountOptions, configFile }))
  await systemctl('daemon-reload')
  await systemctl('enable', name)
  console.log(`${join(folder, name)} mounts ${project} at ${mountpoint} at every login`)
  if (start) {
    await systemctl('restart', name)
    console.log(`${project} is mounted at ${mountpoint}`)
  }
  console.log(`to have it mounted while you are not logged in: loginctl enable-linger ${userInfo().username}`)
}

export async function removeUnit(project: string): Promise<void> {
  const name = unitName(project)
  const file = join(xdgBase('config'), 'systemd', 'user', name)
  if (!(await unitFiles()).includes(name))
    throw new DaemonError(`there is no ${file}: docmount service status shows what there is`)
  await systemctl('disable', '--now', name)
  await rm(file, { force: true })
  await systemctl('daemon-reload')
  console.log(
    `${project} is not mounted any more; what was not sent stays journaled and is sent by the next mount`,
  )
}

export async function showUnits({ json: isJson = false }: JsonOption): Promise<void> {
  const names = await unitFiles()
  const units: { unit: string; state: string }[] = []
  if (names.length === 0 && !isJson)
    console.log('no drive is mounted at login; docmount service install PROJECT makes one')
  for (const name of names) {
    // It fails for a unit that is not running, and says how it is all the same.
    const { stdout } = await runTool('systemctl', ['--user', 'is-active', name]).catch(() => ({ stdout: '' }))
    units.push({ unit: name, state: stdout.trim() === '' ? 'unknown' : stdout.trim() })
  }
  if (isJson) printJson(units)
  else for (const { unit, state } of units) console.log(`${unit}: ${state}`)
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

async function unitFiles(): Promise<readonly string[]> {
  const folder = join(xdgBase('config'), 'systemd', 'user')
  const names = await readdir(folder).catch(() => [])
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
