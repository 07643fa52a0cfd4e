// A drive's activity: a line for each change, in a file that outlasts the drive. Bounded as a log is; read without the daemon.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change } from '../fs/change.ts'
import { LogFile } from './log-file.ts'
import { xdgFolder } from './xdg.ts'

/** A change, and when the drive heard of it (ISO time). */
export interface Activity extends Change {
  readonly at: string
}

/** More than 1,000 changes in each of two files, unless their paths are long. */
const limitBytes = 256 * 1024

/** The file of the drive with this id (`MountPlan.id`); older changes are in `FILE.1`. */
export function activityFile(id: string): string {
  return join(xdgFolder('state'), 'activity', `${id}.jsonl`)
}

/** Writes changes down. Never throws: a disk that is full must not end the drive. */
export class ActivityWriter {
  readonly #id: string
  /** Opened at the first change: a drive that did nothing leaves nothing. */
  #file: LogFile | undefined

  constructor(id: string) {
    this.#id = id
  }

  add(change: Change): void {
    const activity: Activity = { at: new Date().toISOString(), ...change }
    try {
      this.#file ??= this.#open()
    } catch {
      // The drive works without it; the next change tries again.
      return
    }
    this.#file.write(`${JSON.stringify(activity)}\n`)
  }

  close(): void {
    this.#file?.close()
  }

  #open(): LogFile {
    const file = activityFile(this.#id)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return new LogFile(file, { limitBytes })
  }
}

/** Undefined for a line that was cut off. */
export function parseActivity(line: string): Activity | undefined {
  try {
    return JSON.parse(line) as Activity
  } catch {
    return undefined
  }
}
