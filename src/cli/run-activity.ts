// Implements `docmount activity`. It reads the drive's activity file only, so it also works while the drive hangs.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Activity, activityFile, parseActivity } from '../daemon/activity.ts'
import { activityText } from '../daemon/activity-text.ts'
import { CommandError } from './command-error.ts'
import { isAtOrUnder } from '../path.ts'
import { printable, printableJson } from '../printable.ts'
import { findDrive } from './find-drive.ts'
import { localTime } from './local-time.ts'
import { showLines } from './run-log.ts'

const pollMs = 200

export async function runActivity(
  path: string | undefined,
  { isFollowing, isJson }: { isFollowing: boolean; isJson: boolean },
): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  if (found.record === undefined)
    throw new CommandError(`${found.mountpoint} is no drive of this user; docmount status lists them`)
  const file = activityFile(found.record.id)
  const show = (line: string): void => {
    const activity = parseActivity(line)
    if (activity === undefined || !concerns(activity, inside)) return
    console.log(
      isJson ? printableJson(line) : printable(`${localTime(activity.at)}  ${activityText(activity)}`),
    )
  }
  // Older changes are in FILE.1.
  if (existsSync(`${file}.1`)) await showLines(`${file}.1`, { mostBytes: Infinity, isFollowing: false }, show)
  // The file is made by the drive's first change.
  if (isFollowing) while (!existsSync(file)) await sleep(pollMs)
  if (existsSync(file)) await showLines(file, { mostBytes: Infinity, isFollowing }, show)
}

function concerns({ path, from, copy }: Activity, folder: string): boolean {
  return [path, from, copy].some((each) => each !== undefined && isAtOrUnder(each, folder))
}
