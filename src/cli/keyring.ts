// The desktop's keyring, by libsecret's own program (secret-tool): the key goes through its standard input and output, never
// through an argument.

import type { KeySource } from '../api/types.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { runTool } from '../run-tool.ts'

/** It may have to ask its owner to unlock it. */
const limitMs = 120_000

/** `account` finds the key again. Throws DaemonError where there is no keyring, or it is locked. */
export async function storeInKeyring(account: string, key: string): Promise<void> {
  await secretTool(['store', `--label=docmount: ${account}`, ...attributesOf(account)], key)
}

/** Asked whenever the key is needed, so that a new login is picked up without a remount. */
export function keyringKey(account: string): KeySource {
  return {
    async read() {
      const key = (await secretTool(['lookup', ...attributesOf(account)], '')).trim()
      if (key === '')
        throw new DaemonError(`the keyring has no key for ${account}; run docmount login --keyring`)
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
      throw new DaemonError(message, { cause: error })
    },
  )
  // A key that is not stored is exit code 1 without a word.
  if (code === 0 || (code === 1 && stderr.trim() === '')) return stdout
  const ended =
    code === null ? `secret-tool did not end within ${limitMs / 1_000} s` : `secret-tool ended (${code})`
  throw new DaemonError(`the keyring does not answer: ${stderr.trim() || ended}`)
}
