// The state of folders in which several programs work, and the effect of each call on it. Programs hold the folders
// open in which they call, so that each call is one step: it acts on that folder, whatever its name is by then.

import type { Effect } from './possible-orders.ts'

/** A folder or a document; the folder that holds all of them is 0. */
type Item = number

export interface TreeState {
  /** The item at each name of each folder that is there. */
  readonly folders: ReadonlyMap<Item, ReadonlyMap<string, Item>>
  /** How long the content of each document is, which tells one content from every other. */
  readonly lengths: ReadonlyMap<Item, number>
  /** The item that each handle is of. */
  readonly handles: ReadonlyMap<number, Item>
}

/** A name in a folder that is held open. */
export interface Place {
  readonly folder: number
  readonly name: string
}

export type TreeEffect = Effect<TreeState>

/** As shown: a length for a document. */
export type Shown = ReadonlyMap<string, number | Shown>

/** A state that shows these items, of which only the folder that holds them all is open. */
export function treeOf(shown: Shown, rootHandle: number): TreeState {
  const folders = new Map<Item, Map<string, Item>>()
  const lengths = new Map<Item, number>()
  let last = 0
  const add = (item: Item, names: Shown): void => {
    const children = new Map<string, Item>()
    folders.set(item, children)
    for (const [name, what] of names) {
      const child = --last
      children.set(name, child)
      if (typeof what === 'number') lengths.set(child, what)
      else add(child, what)
    }
  }
  add(0, shown)
  return { folders, lengths, handles: new Map([[rootHandle, 0]]) }
}

/** Two states with one key are one. */
export function keyOfTree({ folders, lengths, handles }: TreeState): string {
  const of = (entries: Iterable<readonly [string | number, string | number]>): string =>
    Array.from(entries, ([one, other]) => `${one}:${other}`)
      .toSorted()
      .join()
  const names = Array.from(folders, ([item, children]) => [item, `(${of(children)})`] as const)
  return `${of(names)} ${of(lengths)} ${of(handles)}`
}

/** Its size; `folder` for a folder. */
export function looked(place: Place): TreeEffect {
  return (state) => {
    const item = at(state, place)
    const answer = item === undefined ? 'ENOENT' : String(state.lengths.get(item) ?? 'folder')
    return { state, answer }
  }
}

/** The names in it; of a folder that is gone, none. */
export function listed(folder: number): TreeEffect {
  return (state) => ({ state, answer: [...(namesOf(state, folder)?.keys() ?? [])].toSorted().join() })
}

export function folderOpened(place: Place, handle: number): TreeEffect {
  return (state) => {
    const item = at(state, place)
    if (item === undefined) return { state, answer: 'ENOENT' }
    if (!state.folders.has(item)) return { state, answer: 'ENOTDIR' }
    return { state: { ...state, handles: new Map(state.handles).set(handle, item) }, answer: 'done' }
  }
}

export function documentOpened(place: Place, handle: number): TreeEffect {
  return (state) => {
    const item = at(state, place)
    if (item === undefined) return { state, answer: 'ENOENT' }
    if (state.folders.has(item)) return { state, answer: 'EISDIR' }
    return { state: { ...state, handles: new Map(state.handles).set(handle, item) }, answer: 'done' }
  }
}

/** Answers the length of what a handle reads, from its beginning to its end. */
export function readBy(handle: number): TreeEffect {
  return (state) => ({ state, answer: String(state.lengths.get(state.handles.get(handle) ?? NaN)) })
}

export function folderMade(place: Place, made: Item): TreeEffect {
  return (state) => {
    const names = namesOf(state, place.folder)
    if (names === undefined) return { state, answer: 'ENOENT' }
    if (names.has(place.name)) return { state, answer: 'EEXIST' }
    const after = put(state, place, made)
    return { state: { ...after, folders: new Map(after.folders).set(made, new Map()) }, answer: 'done' }
  }
}

export function folderRemoved(place: Place): TreeEffect {
  return (state) => {
    const item = at(state, place)
    if (item === undefined) return { state, answer: 'ENOENT' }
    const names = state.folders.get(item)
    if (names === undefined) return { state, answer: 'ENOTDIR' }
    if (names.size > 0) return { state, answer: 'ENOTEMPTY' }
    return { state: pruned(put(state, place, undefined)), answer: 'done' }
  }
}

export function documentRemoved(place: Place): TreeEffect {
  return (state) => {
    const item = at(state, place)
    if (item === undefined) return { state, answer: 'ENOENT' }
    if (state.folders.has(item)) return { state, answer: 'EISDIR' }
    return { state: pruned(put(state, place, undefined)), answer: 'done' }
  }
}

/** A new document takes a name. */
export function documentPlaced(place: Place, document: Item, length: number): TreeEffect {
  return (state) => {
    const names = namesOf(state, place.folder)
    if (names === undefined) return { state, answer: 'ENOENT' }
    const before = names.get(place.name)
    if (before !== undefined && state.folders.has(before)) return { state, answer: 'EISDIR' }
    const after = put(state, place, document)
    return {
      state: pruned({ ...after, lengths: new Map(after.lengths).set(document, length) }),
      answer: 'done',
    }
  }
}

export function renamed(from: Place, to: Place): TreeEffect {
  return (state) => {
    const answer = renameAnswer(state, from, to)
    const item = at(state, from)
    if (answer !== 'done' || item === at(state, to)) return { state, answer }
    return { state: pruned(put(put(state, from, undefined), to, item)), answer }
  }
}

function renameAnswer(state: TreeState, from: Place, to: Place): string {
  const item = at(state, from)
  const target = at(state, to)
  const isFolder = item !== undefined && state.folders.has(item)
  const targetNames = target === undefined ? undefined : state.folders.get(target)
  if (item === undefined || namesOf(state, to.folder) === undefined) return 'ENOENT'
  if (item === target) return 'done'
  if (isFolder && isWithin(state, state.handles.get(to.folder), item)) return 'EINVAL'
  if (isFolder && target !== undefined && targetNames === undefined) return 'ENOTDIR'
  if (!isFolder && targetNames !== undefined) return 'EISDIR'
  return targetNames !== undefined && targetNames.size > 0 ? 'ENOTEMPTY' : 'done'
}

export function closed(state: TreeState, handle: number): TreeState {
  const handles = new Map(state.handles)
  return handles.delete(handle) ? pruned({ ...state, handles }) : state
}

function namesOf({ folders, handles }: TreeState, folder: number): ReadonlyMap<string, Item> | undefined {
  return folders.get(handles.get(folder) ?? NaN)
}

function at(state: TreeState, { folder, name }: Place): Item | undefined {
  return namesOf(state, folder)?.get(name)
}

function put(state: TreeState, { folder, name }: Place, item: Item | undefined): TreeState {
  const names = new Map(namesOf(state, folder))
  if (item === undefined) names.delete(name)
  else names.set(name, item)
  return { ...state, folders: new Map(state.folders).set(state.handles.get(folder) ?? NaN, names) }
}

function isWithin(state: Pick<TreeState, 'folders'>, item: Item | undefined, folder: Item): boolean {
  if (item === folder) return true
  for (const child of state.folders.get(folder)?.values() ?? []) if (isWithin(state, item, child)) return true
  return false
}

/** Without what has no name: a folder is gone then, also for who has it open, and a document that nobody has open. */
function pruned({ folders, lengths, handles }: TreeState): TreeState {
  const named = new Set<Item>([0])
  for (const item of named) for (const child of folders.get(item)?.values() ?? []) named.add(child)
  const open = new Set(handles.values())
  return {
    folders: new Map([...folders].filter(([item]) => named.has(item))),
    lengths: new Map([...lengths].filter(([item]) => named.has(item) || open.has(item))),
    handles,
  }
}
