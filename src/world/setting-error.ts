// The error of an invalid setting.

/** An invalid address of a proxy, or file of certificates. The message is one sentence that names it and says what to write. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}
