// Implements `docmount doctor`.

import type { Check, CheckResult } from '../daemon/doctor.ts'
import { checkMachine } from '../daemon/doctor-machine.ts'
import { checkService } from '../daemon/doctor-service.ts'
import type { NetworkSettings } from '../world/network.ts'
import { readConfiguration } from './config-file.ts'
import { exitCodes } from './exit-codes.ts'
import { printJson } from './output.ts'

export interface DoctorOptions extends NetworkSettings {
  readonly baseUrl?: string
  readonly json?: boolean
}

const signs: Record<CheckResult, string> = { good: '✓', note: '–', problem: '✗' }

/** Prints all checks; the exit code is 1 if one found a problem. `project` chooses a section of the config file. */
export async function runDoctor(project: string | undefined, options: DoctorOptions): Promise<void> {
  const { baseUrl, key, network } = await readConfiguration(project)
  const url = options.baseUrl ?? baseUrl
  const service: readonly Check[] =
    url === undefined
      ? [
          {
            name: 'service',
            result: 'problem',
            finding: 'none is configured',
            fix: 'run docmount login, add --base-url, or set DOCMOUNT_BASE_URL',
          },
        ]
      : await checkService(url, { key, network: { ...network, ...givenNetwork(options) } }, project)
  const checks = [...(await checkMachine()), ...service]
  if (options.json === true) printJson(checks)
  else console.log(checks.map(lineOf).join('\n'))
  if (checks.some(({ result }) => result === 'problem')) process.exitCode = exitCodes.failure
}

/** An absent option must not hide the config file's. */
function givenNetwork({ proxy, caFile }: NetworkSettings): NetworkSettings {
  return { ...(proxy === undefined ? {} : { proxy }), ...(caFile === undefined ? {} : { caFile }) }
}

function lineOf({ name, result, finding, fix }: Check): string {
  return `${signs[result]} ${name}: ${finding}${fix === undefined ? '' : `\n    fix: ${fix}`}`
}
