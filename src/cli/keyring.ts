// Stores and reads the API key in the desktop's keyring, with libsecret's secret-tool. The key passes through standard input and
// output only, because every user of the machine can read a program's arguments.

import type { KeySource } from '../api/types.ts'
import { CommandError } from './command-error.ts'
import { runTool } from '../run-tool.ts'

/** Long, because the keyring may ask the user to unlock it. */
const limitMs = 120_000

/** Stores the key under `account`. Throws CommandError if there is no keyring, or it stays locked. */
export async function storeInKeyring(account: string, key: string): Promise<void> {
  await secretTool(['store', `--label=docmount: ${account}`, ...attributesOf(account)], key)
}

/** A key that is read from the keyring at every use, so that a new login needs no remount. */
export function keyringKey(account: string): KeySource {
  return {
    async read() {
      const key = (await secretTool(['lookup', ...attributesOf(account)], '')).trim()
      if (key === '')
        throw new CommandError(`the keyring has no key for ${account}; run docmount login --keyring`)
      return key
    },
  }
}

function attributesOf(account: string): string[] {
  return ['application', 'docmount', 'account', account]
}

async function secretTool(args: readonly string[], input: string): Promise<string> {
  const { code, stdout, stderr } = await runTool('secret-tool', args, { input, limitMs }).catch(
    (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      const message = isMissing
        ? 'no program to reach the keyring: install secret-tool (Debian: libsecret-tools)'
        : `the keyring cannot be reached: ${error.message}`
      throw new CommandError(message, { cause: error })
    },
  )
  // secret-tool exits with 1 and no message if it has no such key.
  if (code === 0 || (code === 1 && stderr.trim() === '')) return stdout
  const ended =
    code === null ? `secret-tool did not end within ${limitMs / 1_000} s` : `secret-tool ended (${code})`
  throw new CommandError(`the keyring does not answer: ${stderr.trim() || ended}`)
}
