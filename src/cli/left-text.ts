// Leftovers of drives that are not mounted, in words: how much, why it is not sent, and the command that sends it.

import { join } from 'node:path'
import type { DriveFile } from '../daemon/drive-file.ts'
import type { LeftBehind, LeftFolder } from '../daemon/left-behind.ts'
import { isUrl } from '../daemon/find-mount.ts'
import { planMount } from '../daemon/mount-plan.ts'
import { homeOf } from '../daemon/xdg.ts'
import { formatBytes } from '../amounts.ts'
import { printable } from '../printable.ts'
import { shellWord } from './shell-word.ts'
import { leftLine } from './unsent-text.ts'

type Drive = Pick<DriveFile, 'project' | 'mountpoint' | 'baseUrl' | 'stateDir'>

/** `3 changes are not sent, 1 file is in lost+found`, or why nobody can tell. */
export function leftSummary({ unsent, localOnly, lost, damaged, problem }: LeftBehind): string {
  const parts = [
    counted(unsent.length, 'change is not sent', 'changes are not sent'),
    counted(localOnly.length, 'file is on this machine only', 'files are on this machine only'),
    counted(lost.length, 'file is in lost+found', 'files are in lost+found'),
    counted(damaged.length, 'file is damaged and set aside', 'files are damaged and set aside'),
  ]
  return [...(problem === undefined ? [] : [problem]), ...parts.filter((part) => part !== '')].join(', ')
}

/** One line for each thing that was left. */
export function leftLines({ unsent, localOnly, lost, damaged }: LeftBehind): string[] {
  return [
    ...unsent.map(leftLine),
    ...localOnly.map(
      ({ path, bytes, why }) =>
        `${printable(path)}  on this machine only  ${formatBytes(bytes)}  ${printable(why)}`,
    ),
    ...lost.map(
      ({ file, path, name, bytes }) =>
        `${printable(path ?? `${name} (never closed)`)}  lost+found  ${formatBytes(bytes)}  ${file}`,
    ),
    ...damaged.map((file) => `damaged, set aside: ${file}`),
  ]
}

/** The one command that goes on with a drive. */
export function resumeCommand(drive: Drive): string {
  const { project, mountpoint, baseUrl, stateDir } = drive
  const isServed = isUrl(mountpoint)
  const isUsualPlace = mountpoint === join(homeOf(), project)
  const isUsualState = planMount({ project, mountpoint, baseUrl }).stateDir === stateDir
  const place = isServed ? ['--listen', mountpoint.replace(/^https?:\/\//, '')] : [mountpoint]
  const words = [project, ...(isUsualPlace ? [] : place), '--base-url', baseUrl]
  if (!isUsualState) words.push('--state-dir', stateDir)
  return ['docmount', isServed ? 'webdav' : 'mount', ...words].map(shellWord).join(' ')
}

/** Said to somebody who mounts the same project elsewhere, or through another address. */
export function leftElsewhere(folder: LeftFolder): string {
  const { drive, left, stateDir } = folder
  const whose = drive === undefined ? stateDir : `the drive ${drive.mountpoint} (${drive.baseUrl})`
  return `${whose} is not mounted: ${leftSummary(left)}; ${wayOn(folder)}`
}

/** Said to somebody who goes on with a state folder at another address. */
export function leftToGoElsewhere({ drive, left, stateDir }: LeftFolder, baseUrl: string): string {
  return `${stateDir} was used with ${drive?.baseUrl ?? 'another address'}: ${leftSummary(left)}; what is not sent goes to ${baseUrl} now`
}

/** How what was left is sent, or at least saved. */
export function wayOn({ drive }: LeftFolder): string {
  return drive === undefined
    ? 'to send it, mount the project where it was mounted before; to copy it out, run: docmount recover --all FOLDER'
    : `to send it, run: ${resumeCommand(drive)}`
}

function counted(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`
}
