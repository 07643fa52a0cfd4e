// Implements `docmount report`.

import { writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import type { Activity } from '../daemon/activity-bursts.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { Report } from '../fs/status.ts'
import { differencesIn, parseReport } from '../ledger/report.ts'
import { CommandError } from './command-error.ts'
import { printable } from '../printable.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { jsonText } from './output.ts'
import { readActivities } from './run-activity.ts'
import { readVersion } from './program.ts'

/** A report with what happened before, as in the file. */
interface WholeReport extends Report {
  readonly activity: readonly Activity[]
}

export async function runReport(
  destination: string,
  path: string | undefined,
  { hasNames }: { readonly hasNames: boolean },
): Promise<void> {
  const { found } = await findDrive(path)
  const { mount } = await askDrive(found, 'status', {})
  const rows = await askDrive(found, 'report', {})
  const activity = found.record === undefined ? [] : await readActivities(found.record.id)
  const report = hasNames ? { ...rows, activity } : withoutNames({ ...rows, activity })
  const text = `${jsonText({ at: new Date().toISOString(), ...aboutDrive(mount), ...report })}\n`
  // A report is of one person's documents.
  await writeFile(destination, text, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new CommandError(`${destination} is there already; name another file`)
  })
  const differences = report.folders.flatMap(differencesIn)
  for (const difference of differences) console.log(printable(difference))
  const said =
    differences.length === 0
      ? 'every name shows what its rows say'
      : `${differences.length} of its names show something else than their rows say`
  console.log(`${printable(destination)} is written; ${said}`)
}

function aboutDrive({ state, driver, away, keyRefusal, isPaused }: MountStatus): object {
  const { version: node, platform } = process
  return {
    docmount: readVersion(),
    node,
    system: `${platform} ${release()}`,
    drive: { state, driver, isAway: away !== undefined, isKeyRefused: keyRefusal !== undefined, isPaused },
  }
}

/** Keys of texts that hold paths, names, and neither; any other text may hold a name, and is left out. */
const paths = new Set(['path', 'source', 'older', 'from', 'copy'])
// The id of a content (`spool`) holds its document's name.
const names = new Set(['name', 'spool'])
const nameless = new Set(['kind', 'at', 'since', 'for', 'modifiedAt', 'highest'])

/** Returns the report with a number for each name, and without texts that may hold one. */
export function withoutNames(report: WholeReport): WholeReport {
  const numbers = new Map<string, number>()
  const numberOf = (name: string): string => {
    if (name === '') return name
    const number = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, number)
    return String(number)
  }
  const json = JSON.stringify(report, (key, value: unknown) => {
    if (typeof value !== 'string' || nameless.has(key)) return value
    if (paths.has(key)) return value.split('/').map(numberOf).join('/')
    return names.has(key) ? numberOf(value) : '(left out)'
  })
  return parseReport(json) as WholeReport
}
