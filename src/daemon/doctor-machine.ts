// The machine's half of `docmount doctor`: the drivers, the folders, and limits.

import { access, constants, readFile, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Check, good, note, problem } from './doctor.ts'
import { findProgram, gatherDriverFacts, tryFuseNative } from './driver-facts.ts'
import { fewestOpenFiles, openFilesAllowed } from './open-files.ts'
import { type DriverFacts, fixOfDenied, selectDriver } from './select-driver.ts'
import { runtimeFolder, xdgFolder } from './xdg.ts'

const gib = 2 ** 30

/** Checks all that a mount needs on this machine. Mounts nothing. */
export async function checkMachine(): Promise<readonly Check[]> {
  const facts = {
    ...(await gatherDriverFacts({ isDescriptorPassed: false })),
    fuseNative: await tryFuseNative(),
  }
  return [
    ...(await checkDrivers(facts)),
    await checkFolder('state folder', xdgFolder('state'), 'what is not sent yet is kept there', gib),
    await checkFolder('cache folder', xdgFolder('cache'), 'documents are cached there', gib),
    await checkFolder('runtime folder', runtimeFolder(), 'the control socket is there', 0),
    await checkOpenFilesAllowed(),
    await checkNotifications(),
  ]
}

export async function checkDrivers(facts: DriverFacts): Promise<readonly Check[]> {
  return [
    checkDriver(facts),
    checkDevFuse(facts),
    checkFusermount(facts),
    await checkAllowOther(facts),
    checkKoffi(facts),
    checkFuseNative(facts),
  ]
}

function checkDriver(facts: DriverFacts): Check {
  try {
    const { driver, why } = selectDriver('auto', facts)
    return good('driver', `docmount mount takes ${driver}: ${why}`)
  } catch (error) {
    return problem('driver', (error as Error).message, 'fix the lines below that are marked ✗')
  }
}

function checkDevFuse(facts: DriverFacts): Check {
  const { devFuse, platform } = facts
  if (platform !== 'linux') return problem('/dev/fuse', `this is ${platform}`, 'use Linux')
  if (devFuse === 'missing') {
    return problem('/dev/fuse', 'does not exist', 'modprobe fuse; in a container: --device /dev/fuse')
  }
  if (devFuse === 'denied') return problem('/dev/fuse', 'cannot be opened', fixOfDenied(facts))
  return good('/dev/fuse', 'can be opened')
}

function checkFusermount({ hasFusermount, canMount }: DriverFacts): Check {
  const fix = 'install the package fuse3'
  if (hasFusermount) return good('fusermount3', 'is installed')
  if (canMount) return note('fusermount3', 'is missing; root mounts without it', fix)
  return problem('fusermount3', 'is missing', fix)
}

async function checkAllowOther({ canMount }: DriverFacts): Promise<Check> {
  const name = 'user_allow_other'
  if (canMount) return good(name, 'not needed: this user may pass --allow-other anyway')
  const text = await readFile('/etc/fuse.conf', 'utf8').catch(() => '')
  if (/^\s*user_allow_other\s*$/m.test(text)) return good(name, 'is set in /etc/fuse.conf')
  return note(
    name,
    'is not set: --allow-other will be refused',
    'add the line user_allow_other to /etc/fuse.conf',
  )
}

function checkKoffi({ hasKoffi, canMount }: DriverFacts): Check {
  if (hasKoffi) return good('koffi', 'is installed')
  if (canMount) return note('koffi', 'is not installed; root mounts without it', 'npm install koffi')
  return problem('koffi', 'is not installed', 'npm install koffi')
}

function checkFuseNative({ fuseNative }: DriverFacts): Check {
  if (fuseNative?.loads === true) return good('fuse-native', 'loads')
  const why = fuseNative?.why ?? 'was not tried'
  return note('fuse-native', why, 'needed only for --driver fuse-native; see native-deps.md')
}

async function checkOpenFilesAllowed(): Promise<Check> {
  const name = 'open files'
  const allowed = await openFilesAllowed()
  if (allowed === undefined || allowed >= fewestOpenFiles)
    return good(name, `${allowed ?? 'any number'} allowed`)
  return problem(
    name,
    `${allowed} allowed, and a drive needs ${fewestOpenFiles} or more`,
    'ulimit -n 4096; in a systemd unit LimitNOFILE=4096',
  )
}

async function checkNotifications(): Promise<Check> {
  const name = 'notify-send'
  if ((await findProgram(name)) !== undefined) return good(name, 'is installed')
  return note(
    name,
    'is not installed: no desktop notifications',
    'install it (Debian: libnotify-bin), if this machine has a desktop',
  )
}

async function checkFolder(name: string, folder: string, use: string, wantedBytes: number): Promise<Check> {
  const existing = await nearestExisting(folder)
  try {
    await access(existing, constants.W_OK | constants.X_OK)
  } catch {
    // The nearest existing folder may be the system's, which nobody should chown.
    if (existing !== folder)
      return problem(
        name,
        `${folder} cannot be made in ${existing}; ${use}`,
        'set HOME to a folder of yours, or XDG_STATE_HOME, XDG_CACHE_HOME and XDG_RUNTIME_DIR',
      )
    return problem(
      name,
      `${existing} cannot be written; ${use}`,
      `chown or chmod ${existing}, or choose another`,
    )
  }
  const { bavail, bsize } = await statfs(existing)
  const freeBytes = bavail * bsize
  const finding = `${folder} has ${(freeBytes / gib).toFixed(1)} GiB of room`
  if (freeBytes >= wantedBytes) return good(name, finding)
  return problem(
    name,
    `${finding}; ${use}`,
    'make room, or choose another folder with --state-dir, --cache-dir',
  )
}

async function nearestExisting(path: string): Promise<string> {
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  return exists || dirname(path) === path ? path : nearestExisting(dirname(path))
}
