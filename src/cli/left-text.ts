// Messages about unsent changes and other leftovers of drives that are not mounted.

import { join } from 'node:path'
import type { LostContent } from '../content/spool/lost-and-found.ts'
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

/** Returns `3 changes are not sent, 1 file is in lost+found`, preceded by the problem if the state folder cannot be read. */
export function leftSummary({ unsent, localOnly, lost, damaged, problem }: LeftBehind): string {
  const parts = [
    counted(unsent.length, 'change is not sent', 'changes are not sent'),
    counted(localOnly.length, 'file is on this machine only', 'files are on this machine only'),
    counted(lost.length, 'file is in lost+found', 'files are in lost+found'),
    counted(damaged.length, 'file is damaged and set aside', 'files are damaged and set aside'),
  ]
  return [...(problem === undefined ? [] : [problem]), ...parts.filter((part) => part !== '')].join(', ')
}

/** Returns a line for each change and file that was left. */
export function leftLines({ unsent, localOnly, lost, damaged }: LeftBehind): string[] {
  return [
    ...unsent.map(leftLine),
    ...localOnly.map(({ path, bytes, why }) =>
      printable(`${path}  on this machine only  ${formatBytes(bytes)}  ${why}`),
    ),
    ...lost.map(lostLine),
    ...damaged.map(setAsideLine),
  ]
}

/** Returns a line about content that belongs to no document. One without a path was being written when the daemon ended. */
export function lostLine({ file, path, name, bytes }: LostContent): string {
  return printable(`${path ?? `${name} (never closed)`}  lost+found  ${formatBytes(bytes)}  ${file}`)
}

/** Returns a line about a damaged file of the state folder. */
export function setAsideLine(file: string): string {
  return printable(`damaged, set aside: ${file}`)
}

/** Returns the command that mounts or serves the drive again with the same state folder. */
export function resumeCommand(drive: Drive): string {
  return ['docmount', ...resumeArguments(drive)].map(shellWord).join(' ')
}

/** The same, as the arguments of `docmount`. */
export function resumeArguments(drive: Drive): string[] {
  const { project, mountpoint, baseUrl, stateDir } = drive
  const isWebdav = isUrl(mountpoint)
  const isUsualPlace = mountpoint === join(homeOf(), project)
  const isUsualState = planMount({ project, mountpoint, baseUrl }).stateDir === stateDir
  const place = isWebdav ? ['--listen', mountpoint.replace(/^https?:\/\//, '')] : [mountpoint]
  const words = [project, ...(isUsualPlace ? [] : place), '--base-url', baseUrl]
  if (!isUsualState) words.push('--state-dir', stateDir)
  return [isWebdav ? 'webdav' : 'mount', ...words]
}

/** Message when the same project is mounted at another place or URL than the drive with the leftovers. */
export function leftOnOtherDrive(folder: LeftFolder): string {
  const { drive, left, stateDir } = folder
  const whose = drive === undefined ? stateDir : `the drive ${drive.mountpoint} (${drive.baseUrl})`
  return `${whose} is not mounted: ${leftSummary(left)}; ${resumeAdvice(folder)}`
}

/** Message when a state folder with leftovers is used with another URL of the service. */
export function leftForOtherUrl({ drive, left, stateDir }: LeftFolder, baseUrl: string): string {
  return `${stateDir} was used with ${drive?.baseUrl ?? 'another address'}: ${leftSummary(left)}; what is not sent goes to ${baseUrl} now`
}

/** Returns advice on how to send or save the leftovers. */
export function resumeAdvice({ drive }: LeftFolder): string {
  return drive === undefined
    ? 'to send it, mount the project where it was mounted before (with the same --state-dir); to copy it out, run: docmount recover --all FOLDER'
    : `to send it, run: ${resumeCommand(drive)}`
}

function counted(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`
}
