// Implements `docmount activity`. It reads the drive's activity file only, so it also works while the drive hangs.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { activityFile, mostChanges, parseActivity } from '../daemon/activity.ts'
import { type Activity, withoutCounted } from '../daemon/activity-bursts.ts'
import { activityText } from '../daemon/activity-text.ts'
import { CommandError } from './command-error.ts'
import { isAtOrUnder } from '../path.ts'
import { printable, printableJson } from '../printable.ts'
import { findDrive } from './find-drive.ts'
import { localTime } from '../local-time.ts'
import { showLines } from './run-log.ts'

const pollMs = 200

export async function runActivity(
  path: string | undefined,
  { isFollowing, isJson }: { isFollowing: boolean; isJson: boolean },
): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  if (found.record === undefined)
    throw new CommandError(`${found.mountpoint} is no drive of this user; docmount status lists them`)
  const { id } = found.record
  const show = (activity: Activity): void => {
    if (!concerns(activity, inside)) return
    const line = isJson
      ? printableJson(JSON.stringify(activity))
      : printable(`${localTime(activity.at)}  ${activityText(activity)}`)
    console.log(line)
  }
  if (isFollowing) await untilThere(activityFile(id))
  await eachActivity(id, { isFollowing }, show)
}

/** Resolves with the latest changes of a drive, at most `mostChanges`, oldest first. */
export async function readActivities(id: string): Promise<readonly Activity[]> {
  const activities: Activity[] = []
  await eachActivity(id, { isFollowing: false }, (activity) => void activities.push(activity))
  return activities
}

/** Calls `show` with the latest changes, and with `isFollowing` with those that come. */
async function eachActivity(
  id: string,
  { isFollowing }: { readonly isFollowing: boolean },
  show: (activity: Activity) => void,
): Promise<void> {
  const file = activityFile(id)
  // A later line may sum up many of these (`count`), and replaces them.
  const earlier: Activity[] = []
  let take = (activity: Activity): void => void earlier.push(activity)
  const onCaughtUp = (): void => {
    for (const activity of withoutCounted(earlier).slice(-mostChanges)) show(activity)
    take = show
  }
  const read = (line: string): void => {
    const activity = parseActivity(line)
    if (activity !== undefined) take(activity)
  }
  // Older changes are in FILE.1.
  if (existsSync(`${file}.1`)) await showLines(`${file}.1`, { mostBytes: Infinity, isFollowing: false }, read)
  if (existsSync(file)) await showLines(file, { mostBytes: Infinity, isFollowing, onCaughtUp }, read)
}

/** The file is made by the drive's first change. */
async function untilThere(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(pollMs)
}

/** A sum of changes (`count`) also concerns what lies below its path. */
function concerns({ path, from, copy, count }: Activity, folder: string): boolean {
  const isAbove = count !== undefined && isAtOrUnder(folder, path)
  return isAbove || [path, from, copy].some((each) => each !== undefined && isAtOrUnder(each, folder))
}
