// A drive's activity: a JSON line for each change, in a file that stays when the drive ends and is read without the daemon. Like a
// log it rotates, so that its size is bounded.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change } from '../fs/change.ts'
import { type Activity, ActivityBursts, type ActivityBurstsOptions } from './activity-bursts.ts'
import { LogFile } from './log-file.ts'
import { xdgFolder } from './xdg.ts'

/** Most changes that the command line and the page show: the latest. */
export const mostChanges = 1_000

/** Size of each of the two files: room for `mostChanges` lines, unless the paths are long. */
const limitBytes = 256 * 1024

/** Returns the file of the drive with this id (`MountPlan.id`); older changes are in `FILE.1`. */
export function activityFile(id: string): string {
  return join(xdgFolder('state'), 'activity', `${id}.jsonl`)
}

/** Writes changes down. Never throws: a disk that is full must not end the drive. */
export class ActivityWriter {
  readonly #id: string
  /** Opened at the first change: a drive that did nothing leaves nothing. */
  #file: LogFile | undefined
  #isClosed = false
  readonly #bursts: ActivityBursts

  constructor(id: string, onBurst: ActivityBurstsOptions['onBurst']) {
    this.#id = id
    this.#bursts = new ActivityBursts({ write: (activity) => this.#write(activity), onBurst })
  }

  add(change: Change): void {
    this.#bursts.add({ at: new Date().toISOString(), ...change })
  }

  close(): void {
    this.#bursts.close()
    this.#isClosed = true
    this.#file?.close()
    this.#file = undefined
  }

  #write(activity: Activity): void {
    if (this.#isClosed) return
    try {
      this.#file ??= this.#open()
    } catch {
      // The drive works without it; the next change tries again.
      return
    }
    this.#file.write(`${JSON.stringify(activity)}\n`)
  }

  #open(): LogFile {
    const file = activityFile(this.#id)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return new LogFile(file, { limitBytes })
  }
}

/** Returns undefined for an incomplete line, as a kill leaves it. */
export function parseActivity(line: string): Activity | undefined {
  try {
    return JSON.parse(line) as Activity
  } catch {
    return undefined
  }
}
