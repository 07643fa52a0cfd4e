// Removes an empty state folder after a mount has failed or ended. A folder chosen by `--state-dir` stays; only its pointer goes:
// the file in the default folder by which later commands find it.

import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { driveFileName, pointerOf } from './drive-file.ts'
import { isEmpty, readLeftBehind } from './left-behind.ts'
import type { MountPlan } from './mount-plan.ts'
import { stateReaders } from './state-readers.ts'
import { xdgFolder } from './xdg.ts'

/** Never throws, and never removes an unknown file. Call it only after the drive's daemon has released the folder. */
export async function tidyState(plan: MountPlan): Promise<void> {
  const { stateDir, logFile } = plan
  const pointer = pointerOf(plan)
  if (pointer !== undefined && isEmpty(await readLeftBehind(stateDir))) {
    // A pointer that cannot be removed leads to an empty folder, which commands do not list.
    await rm(pointer, { force: true }).catch(() => undefined)
  }
  if (dirname(stateDir) !== xdgFolder('state')) return
  const { removeEmptyState } = await stateReaders()
  const log = basename(logFile)
  removeEmptyState(stateDir, (name) => name === driveFileName || name === log || name === `${log}.1`)
}
