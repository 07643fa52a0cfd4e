// The API key in memory: read at first use, and read again when the service refuses it.

import { InputError } from './errors.ts'
import type { KeySource } from './types.ts'

export interface KeyHolder {
  /** Returns the key in use. Throws errors of the source, and InputError for a key that cannot be a header. */
  current(): Promise<string>
  /** Returns a key other than the refused one; undefined if the source has no other. */
  renewed(refused: string): Promise<string | undefined>
}

/** Returns the holder of one client's key. Concurrent calls share one read of the source. */
export function createKeyHolder(source: KeySource): KeyHolder {
  let held: string | undefined
  let reading: Promise<string> | undefined

  const read = (): Promise<string> => {
    reading ??= readKey(source).finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    async current() {
      held ??= await read()
      return held
    },
    async renewed(refused) {
      if (held !== undefined && held !== refused) return held
      if (typeof source === 'string') return undefined
      held = await read()
      return held === refused ? undefined : held
    },
  }
}

async function readKey(source: KeySource): Promise<string> {
  const key = (typeof source === 'string' ? source : await source.read()).trim()
  // Checked here, because the HTTP library's error for a key of two lines would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InputError('the API key must be one line of printable ASCII characters without spaces')
  }
  return key
}
