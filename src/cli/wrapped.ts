// Text in lines of a given width.

/** Breaks at blanks; a word longer than `width` has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line += (line === '' ? '' : ' ') + word
  }
  if (line !== '') lines.push(line)
  return lines
}
