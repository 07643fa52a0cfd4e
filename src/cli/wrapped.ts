// Wraps text to a width.

/** Returns the lines, broken at blanks. A word longer than `width` gets a line of its own. */
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
