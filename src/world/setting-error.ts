/** What somebody set cannot be so: a proxy's address, a file of certificates. One sentence that says what to write. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}
