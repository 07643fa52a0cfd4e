// A drive's activity: a line for each change, in a file that outlasts the drive. Bounded as a log is; read without the daemon.

import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Writes changes down, and never fails: a disk that is full must not end the drive. */
export class ActivityWriter {
  readonly #file: LogFile | undefined

  constructor(id: string) {
    try {
      mkdirSync(join(xdgFolder('state'), 'activity'), { recursive: true, mode: 0o700 })
      this.#file = new LogFile(activityFile(id), { limitBytes })
    } catch {
      // The drive works without it.
    }
  }

  add(change: Change): void {
    const activity: Activity = { at: new Date().toISOString(), ...change }
    this.#file?.write(`${JSON.stringify(activity)}\n`)
  }

  close(): void {
    this.#file?.close()
  }
}

/** The latest changes, oldest first; none where no file is there. */
export async function latestActivity(id: string, count: number): Promise<readonly Activity[]> {
  const file = activityFile(id)
  const texts = await Promise.all([`${file}.1`, file].map((each) => readFile(each, 'utf8').catch(() => '')))
  return texts
    .join('')
    .split('\n')
    .flatMap((line) => parseActivity(line) ?? [])
    .slice(-count)
}

/** Undefined for a line that was cut off. */
export function parseActivity(line: string): Activity | undefined {
  try {
    return JSON.parse(line) as Activity
  } catch {
    return undefined
  }
}
