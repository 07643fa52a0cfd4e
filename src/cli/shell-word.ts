// Quotes words of commands that are printed, so that they can be pasted into a shell.

/** Returns the text, in single quotes if a shell needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
