// Changes of a folder's states, for somebody who watches it. Looked for a few times a second in what decides them, which is
// little; only when that has changed are the states made anew and compared.

import { sleep } from '../../world/clock.ts'
import type { FolderChange, NameStatus } from '../status.ts'
import { unsentUnder } from '../unsent/unsent-now.ts'
import { folderStatus, type FolderParts } from './folder-status.ts'

const everyMs = 500

/** Calls `onChange` with everything at first, then with what has changed. Resolves when the signal aborts. */
export async function watchFolder(
  parts: FolderParts,
  path: string,
  { signal, onChange }: { signal: AbortSignal; onChange: (change: FolderChange) => void },
): Promise<void> {
  let decisive: string | undefined
  let told: Told | undefined
  while (!signal.aborted) {
    const now = decisiveIn(parts, path)
    if (now !== decisive) {
      const { own, names, isListed } = folderStatus(parts, path)
      const next = new Map(names.map((status) => [status.name, JSON.stringify(status)]))
      const change = {
        own,
        isListed,
        names: names.filter(({ name }) => told?.names.get(name) !== next.get(name)),
        gone: [...(told?.names.keys() ?? [])].filter((name) => !next.has(name)),
      }
      if (told === undefined || isOther(change, told)) onChange(change)
      decisive = now
      told = { own, names: next, isListed }
    }
    await sleep(parts.clock, everyMs, { signal, idle: true }).catch(() => {})
  }
}

interface Told {
  readonly own: NameStatus | undefined
  readonly names: ReadonlyMap<string, string>
  readonly isListed: boolean
}

function isOther({ own, isListed, names, gone }: FolderChange, told: Told): boolean {
  if (names.length > 0 || gone.length > 0 || isListed !== told.isListed) return true
  return JSON.stringify(own) !== JSON.stringify(told.own)
}

/** The same as long as every state is: all that `folderStatus` makes them from, but the listing itself. */
function decisiveIn(parts: FolderParts, path: string): string {
  const { tree, conflicts, localOnly, handles, pins, reader } = parts
  const node = tree.find(path)
  return JSON.stringify([
    unsentUnder(parts, path),
    conflicts.list(tree),
    [...localOnly.all()].map((each) => each.path),
    [...handles.written()].map((each) => [each.path, each.isDirty]),
    pins.status(),
    reader.disk.heldBytes,
    node?.folder?.generation,
    node === undefined ? undefined : tree.listings.known(node)?.requestedAt,
  ])
}
