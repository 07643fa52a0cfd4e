// The error of an invalid setting.

import { ExpectedError } from '../expected-error.ts'

/** An invalid address of a proxy, or file of certificates. The message is one sentence that names it and says what to write. */
export class SettingError extends ExpectedError {
  override readonly name = 'SettingError'
  override readonly isUsage = true
}
