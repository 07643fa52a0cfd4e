// The key of a drive, which outlives the shell and the login it was started with.

import type { KeySource } from '../api/types.ts'
import { readConfigFile } from './config-file.ts'

/**
 * Gives the key as it was given; asked again, since the service refused it, and where it is the same, the one that `docmount login`
 * has kept since for the same service. Never another service's: it is sent to this one.
 */
export function lastingKey(
  given: KeySource,
  { project, baseUrl }: { readonly project: string; readonly baseUrl: string },
): KeySource {
  let told: string | undefined
  return {
    async read() {
      const key = await readKey(given)
      if (key !== told) return (told = key)
      // The refusal is what there is to tell, whatever is wrong with the file.
      const kept = await readConfigFile(project).catch(() => undefined)
      if (kept?.key === undefined || kept.baseUrl?.replace(/\/+$/, '') !== baseUrl) return key
      return readKey(kept.key)
    },
  }
}

async function readKey(source: KeySource): Promise<string> {
  return typeof source === 'string' ? source : source.read()
}
