// Reports changes of the states in a folder to a program that watches it. Twice a second it reads the few inputs of these states;
// only if an input has changed, it computes the states anew and compares them.

import { sleep } from '../../world/clock.ts'
import type { FolderChange, NameStatus } from '../status.ts'
import { unsentUnder } from '../unsent/unsent-now.ts'
import { folderStatus, type FolderParts } from './folder-status.ts'

const everyMs = 500

/** Calls `onChange` with all states at first, then with the changed ones. Resolves when the signal aborts. */
export async function watchFolder(
  parts: FolderParts,
  path: string,
  { signal, onChange }: { signal: AbortSignal; onChange: (change: FolderChange) => void },
): Promise<void> {
  let lastInputs: string | undefined
  let reported: Reported | undefined
  while (!signal.aborted) {
    const inputs = inputsOf(parts, path)
    if (inputs !== lastInputs) {
      const { own, names, isListed } = folderStatus(parts, path)
      const next = new Map(names.map((status) => [status.name, JSON.stringify(status)]))
      const change = {
        own,
        isListed,
        names: names.filter(({ name }) => reported?.names.get(name) !== next.get(name)),
        gone: [...(reported?.names.keys() ?? [])].filter((name) => !next.has(name)),
      }
      if (reported === undefined || isOther(change, reported)) onChange(change)
      lastInputs = inputs
      reported = { own, names: next, isListed }
    }
    await sleep(parts.clock, everyMs, { signal, idle: true }).catch(() => {})
  }
}

interface Reported {
  readonly own: NameStatus | undefined
  readonly names: ReadonlyMap<string, string>
  readonly isListed: boolean
}

function isOther({ own, isListed, names, gone }: FolderChange, reported: Reported): boolean {
  if (names.length > 0 || gone.length > 0 || isListed !== reported.isListed) return true
  return JSON.stringify(own) !== JSON.stringify(reported.own)
}

/** Returns all inputs of `folderStatus` as text; of the listing only its time. */
function inputsOf(parts: FolderParts, path: string): string {
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
