// What `docmount doctor` prints.

import type { Check, CheckResult } from '../daemon/doctor.ts'
import { checkMachine } from '../daemon/doctor-machine.ts'
import { checkService } from '../daemon/doctor-service.ts'
import { readConfiguration } from './config-file.ts'
import { exitCodes } from './exit-codes.ts'
import { printJson } from './output.ts'

const signs: Record<CheckResult, string> = { good: '✓', note: '–', problem: '✗' }

/** With a project its own section of the config file is looked at. */
export async function runDoctor(
  project: string | undefined,
  givenUrl: string | undefined,
  isJson: boolean,
): Promise<void> {
  const { baseUrl, key } = await readConfiguration(project)
  const url = givenUrl ?? baseUrl
  const service: readonly Check[] =
    url === undefined
      ? [
          {
            name: 'service',
            result: 'note',
            finding: 'none is configured',
            fix: 'run docmount login, add --base-url, or set DOCMOUNT_BASE_URL',
          },
        ]
      : await checkService(url, key, project)
  const checks = [...(await checkMachine()), ...service]
  if (isJson) printJson(checks)
  else console.log(checks.map(lineOf).join('\n'))
  if (checks.some(({ result }) => result === 'problem')) process.exitCode = exitCodes.failure
}

function lineOf({ name, result, finding, fix }: Check): string {
  return `${signs[result]} ${name}: ${finding}${fix === undefined ? '' : `\n    fix: ${fix}`}`
}
