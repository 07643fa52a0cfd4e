// The contents of a drive's status item: icon, tooltip and menu, in plain words, for src/desktop/status_item.py.

import { formatBytes } from '../amounts.ts'
import { isUrl } from '../daemon/find-mount.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import { leftBytesOf } from '../daemon/left-bytes.ts'
import type { Unsent } from '../fs/status.ts'
import { printable } from '../printable.ts'
import { plainReason, refusedWords } from '../ui/plain-words.ts'

/** A line of the menu. With an empty label: a separator. */
export interface ItemEntry {
  readonly id: string
  readonly label: string
  readonly isEnabled: boolean
}

export interface ItemView {
  /** Name by which trays remember what the user set for the item. */
  readonly name: string
  readonly icon: 'stored' | 'sending' | 'waiting' | 'refused'
  readonly title: string
  readonly text: string
  readonly entries: readonly ItemEntry[]
}

/** Id of the entry that opens the folder of the document at `path`. */
export const documentId = (path: string): string => `document ${path}`
/** Returns the path of such an id; undefined for another one. */
export const documentOf = (id: string): string | undefined => /^document (.*)$/s.exec(id)?.[1]

const mostRefusals = 5
const mostLetters = 80

/** All changes from the first until everything is sent: their number stays while those left become fewer. */
export class Burst {
  readonly #bytes = new Map<string, number>()

  /** `moving`: all changes that are to be sent. */
  progress(moving: readonly Unsent[]): { done: number; of: number; doneBytes: number; ofBytes: number } {
    if (moving.length === 0) this.#bytes.clear()
    for (const { path, bytes } of moving) this.#bytes.set(path, bytes)
    const of = this.#bytes.size
    const ofBytes = [...this.#bytes.values()].reduce((sum, bytes) => sum + bytes, 0)
    return { done: of - moving.length, of, doneBytes: Math.max(0, ofBytes - leftBytesOf(moving)), ofBytes }
  }
}

export function itemView(status: MountStatus, burst: Burst): ItemView {
  const { project, mountpoint, unsent, isPaused, state } = status
  const moving = unsent.filter((change) => !isRefused(change))
  const refused = refusalsOf(status)
  const [icon, text] = stateOf(status, moving, burst)
  const isLive = state === 'live'
  const entries: ItemEntry[] = [
    { id: 'state', label: text, isEnabled: false },
    separator('actions'),
    ...(isUrl(mountpoint) ? [] : [{ id: 'open', label: 'Open folder', isEnabled: isLive }]),
    isPaused
      ? { id: 'resume', label: 'Go on', isEnabled: isLive }
      : { id: 'pause', label: 'Pause', isEnabled: isLive },
    { id: 'page', label: 'Show details', isEnabled: true },
  ]
  if (refused.length > 0) {
    entries.push(separator('refusals'), { id: 'refused', label: 'Refused last:', isEnabled: false })
    for (const { path, why } of refused)
      entries.push({
        id: documentId(path),
        label: shortened(`${path}: ${why}`),
        isEnabled: isLive && !isUrl(mountpoint),
      })
    if (unsent.some(isRefused)) entries.push({ id: 'retry', label: 'Send again', isEnabled: isLive })
  }
  return { name: `docmount-${project}`, icon, title: printable(project), text, entries }
}

function separator(id: string): ItemEntry {
  return { id: `before ${id}`, label: '', isEnabled: false }
}

function isRefused({ state }: Unsent): boolean {
  return state === 'refused' || state === 'unkept'
}

/** Returns the icon and a sentence: first of what needs the user, then of what waits, then of what is under way. */
function stateOf(status: MountStatus, moving: readonly Unsent[], burst: Burst): [ItemView['icon'], string] {
  const { unsent, away, isPaused, keyRefusal, state, conflictCopies } = status
  const { done, of, doneBytes, ofBytes } = burst.progress(moving)
  const waiting =
    moving.length === 0
      ? ''
      : ` ${changes(moving.length, 'waits', 'wait')} (${formatBytes(leftBytesOf(moving))}).`
  const refused = unsent.length - moving.length
  if (keyRefusal !== undefined) return ['refused', `The service no longer accepts the key.${waiting}`]
  if (refused > 0) return ['refused', `${changes(refused, 'was', 'were')} refused.${waiting}`]
  if (conflictCopies.length > 0)
    return [
      'refused',
      `Someone else changed ${conflictCopies.length === 1 ? '1 document' : `${conflictCopies.length} documents`} too.${waiting}`,
    ]
  if (away !== undefined) return ['waiting', `Waiting for the service.${waiting}`]
  if (isPaused) return ['waiting', `Paused.${waiting}`]
  if (moving.length > 0) {
    const bytes = ofBytes === 0 ? '' : ` (${formatBytes(doneBytes)} of ${formatBytes(ofBytes)})`
    const until = state === 'live' ? '' : ' The drive ends when all is sent.'
    return ['sending', `Sending ${Math.min(done + 1, of)} of ${of}${bytes}.${until}`]
  }
  return ['stored', 'Everything is stored.']
}

function changes(count: number, one: string, many: string): string {
  return count === 1 ? `1 change ${one}` : `${count} changes ${many}`
}

/** Returns the latest refusals, the last first: of changes that are kept here, and of names whose type the service does not take. */
function refusalsOf({ unsent, refusedNames }: MountStatus): { path: string; why: string }[] {
  const changed = unsent.filter(isRefused).map(({ path, action, lastError, since }) => ({
    path,
    at: since,
    why: lastError === undefined ? refusedWords[action] : plainReason(lastError),
  }))
  const named = refusedNames.map(({ path, what, at }) => ({ path, at, why: `the service takes no ${what}` }))
  return [...changed, ...named].toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, mostRefusals)
}

function shortened(text: string): string {
  const line = printable(text)
  return line.length <= mostLetters ? line : `${line.slice(0, mostLetters - 1)}…`
}
