// The mark in a data folder that has moved, or is in the last step of its move. No service starts on such a folder: otherwise
// there would be two copies of the store that differ.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '../../parse-json.ts'
import { writeWhole } from '../../write-whole.ts'
import { StartError } from '../start-error.ts'

export interface MovedMark {
  /** Random id of the move. */
  readonly id: string
  /** False while the target may lack some of the rows. */
  readonly isDone: boolean
}

/** `data-dir.ts` accepts only known names in a data folder, `service.…` among them. */
const markName = 'service.moved'

/** Undefined where the folder was never moved. Throws a StartError for a mark that is damaged. */
export function readMark(dataDir: string): MovedMark | undefined {
  const file = join(dataDir, markName)
  if (!existsSync(file)) return undefined
  const { id, isDone } = (parseJson(readFileSync(file, 'utf8')) ?? {}) as Partial<MovedMark>
  if (id === undefined || isDone === undefined)
    throw new StartError(
      `${file} is damaged: nobody knows whether the store has moved to another database; remove it only where it has not`,
    )
  return { id, isDone }
}

/** Writes the mark durably. */
export async function writeMark(dataDir: string, mark: MovedMark): Promise<void> {
  await writeWhole(join(dataDir, markName), JSON.stringify(mark))
}

/** Throws a StartError where the store has moved, or is about to. */
export function refuseMoved(dataDir: string): void {
  const mark = readMark(dataDir)
  if (mark === undefined) return
  throw new StartError(
    mark.isDone
      ? `what was in ${dataDir} has moved to another database: serve that one (docmount migrate has moved it)`
      : `${dataDir} is on its way to another database: run docmount migrate again, or give it up by removing ${markName} there`,
  )
}
