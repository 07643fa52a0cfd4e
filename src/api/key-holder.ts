// The API key in memory: read at first use, read again when the service refuses it. Knows no HTTP.

import { InputError } from './errors.ts'
import type { KeySource } from './types.ts'

export interface KeyHolder {
  /** The key in use. Throws what the source throws, and InputError for a key that cannot be a header. */
  current(): Promise<string>
  /** A key other than the refused one, or undefined when the source has none. */
  renewed(refused: string): Promise<string | undefined>
}

/** Holds the key of one client; concurrent reads of the source are one. */
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
  // A key file with two lines would otherwise fail deep in the transport, with the key in the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InputError('the API key must be one line of printable ASCII characters without spaces')
  }
  return key
}
