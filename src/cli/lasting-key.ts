// The API key of a drive, replaced by that of a later `docmount login` once the service refuses it.

import type { KeySource } from '../api/types.ts'
import { isSameUrl, readConfigFile } from './config-file.ts'

/**
 * Returns a source that first yields the `given` key. The client reads again when the service refuses a key: then the source
 * yields the config file's key, but only if that is for the same `baseUrl`, since the key is sent there.
 */
export function lastingKey(
  given: KeySource,
  { project, baseUrl }: { readonly project: string; readonly baseUrl: string },
): KeySource {
  let lastGiven: string | undefined
  return {
    async read() {
      const key = await readKey(given)
      // The same key once more would mean that it was refused.
      if (key !== lastGiven) return (lastGiven = key)
      // With an unreadable file the refused key is returned again, so that the user sees the service's refusal.
      const config = await readConfigFile(project).catch(() => undefined)
      if (config?.key === undefined || !isSameUrl(config.baseUrl ?? '', baseUrl)) return key
      return readKey(config.key)
    },
  }
}

async function readKey(source: KeySource): Promise<string> {
  return typeof source === 'string' ? source : source.read()
}
