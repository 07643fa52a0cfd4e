// Shortens long lists for people.

const most = 10

/** Returns the first ten lines, then `and 5 more`. */
export function firstTen(lines: readonly string[]): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), `and ${lines.length - most} more`]
}
