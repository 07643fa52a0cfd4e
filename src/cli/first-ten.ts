// Long lists, cut where a person stops reading.

const most = 10

/** The first ten, and how many more there are. */
export function firstTen(lines: readonly string[]): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), `and ${lines.length - most} more`]
}
