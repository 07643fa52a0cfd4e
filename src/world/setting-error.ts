// The error of a setting that cannot be: it names the setting, and says what to write.

/** A proxy's address, a file of certificates. The message is one sentence that says what to write. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}
