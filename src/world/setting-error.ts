// The error of an invalid setting.

import { ToldError } from '../told-error.ts'

/** An invalid address of a proxy, or file of certificates. The message is one sentence that names it and says what to write. */
export class SettingError extends ToldError {
  override readonly name = 'SettingError'
  override readonly isUsage = true
}
