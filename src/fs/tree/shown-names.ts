// Names of a folder: those of its listing, with what is true here.

import type { FolderState } from './node.ts'

/** Returns the visible names: those listed, in the service's order, then those that are only here. */
export function shownNames(
  listed: { keys(): Iterable<string>; has(name: string): boolean },
  { kept, tombstones }: Pick<FolderState, 'kept' | 'tombstones'>,
): string[] {
  if (tombstones.size === 0 && kept.size === 0) return [...listed.keys()]
  const names = [...listed.keys()].filter((name) => kept.has(name) || !tombstones.has(name))
  for (const name of kept) if (!listed.has(name)) names.push(name)
  return names
}
