// A word as a shell takes it, so that a command that is printed can be copied.

/** Quoted only where it has to be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
