// Dismissals, in words: for the command line and the page.

import { printable } from '../printable.ts'

export function namesDismissed(count: number): string {
  return `${count === 1 ? '1 refused name is' : `${count} refused names are`} listed no longer`
}

/** `files`: names of the damaged files, which were set aside. */
export function damageDismissed(files: readonly string[]): string {
  const kept = files.length === 0 ? '' : `; kept as ${files.map(printable).join(', ')}`
  return `Damage found so far is listed no longer${kept}`
}
