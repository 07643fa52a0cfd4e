// The state of a folder in which several programs work, and the effect of each call on it: names, the documents they
// stand for, and open handles.

import type { Effect } from './possible-orders.ts'

export interface CrowdedState {
  /** The document at each path. */
  readonly names: ReadonlyMap<string, number>
  /** How long the content of each document is, which tells one content from every other. */
  readonly lengths: ReadonlyMap<number, number>
  /** The document that each handle is of. */
  readonly handles: ReadonlyMap<number, number>
}

type CrowdedEffect = Effect<CrowdedState>

/** A state that shows these documents, none of them open. */
export function holding(lengths: Iterable<readonly [path: string, length: number]>): CrowdedState {
  const all = [...lengths]
  return {
    names: new Map(all.map(([path], document) => [path, -document])),
    lengths: new Map(all.map(([, length], document) => [-document, length])),
    handles: new Map(),
  }
}

/** Two states with one key are one. */
export function keyOf({ names, lengths, handles }: CrowdedState): string {
  const of = (documents: ReadonlyMap<string | number, number>): string =>
    Array.from(documents, ([name, document]) => `${name}:${document}:${lengths.get(document)}`)
      .toSorted()
      .join()
  return `${of(names)} ${of(handles)}`
}

/** A new document takes a name. */
export function placed(path: string, document: number, length: number): CrowdedEffect {
  return ({ names, lengths, handles }) => ({
    state: pruned({
      names: new Map(names).set(path, document),
      lengths: new Map(lengths).set(document, length),
      handles,
    }),
    answer: 'done',
  })
}

export function renamed(path: string, to: string): CrowdedEffect {
  return (state) => {
    const document = state.names.get(path)
    if (document === undefined) return { state, answer: 'ENOENT' }
    const names = new Map(state.names)
    names.delete(path)
    return { state: pruned({ ...state, names: names.set(to, document) }), answer: 'done' }
  }
}

export function removed(path: string): CrowdedEffect {
  return (state) => {
    const names = new Map(state.names)
    const answer = names.delete(path) ? 'done' : 'ENOENT'
    return { state: pruned({ ...state, names }), answer }
  }
}

/** Answers the length of what is at a path. */
export function looked(path: string): CrowdedEffect {
  return (state) => {
    const document = state.names.get(path)
    return { state, answer: document === undefined ? 'ENOENT' : String(state.lengths.get(document)) }
  }
}

/** `made`: the number of the document that is made where there is none; undefined: that is ENOENT. */
export function opened(
  path: string,
  handle: number,
  { made, truncates }: { made: number | undefined; truncates: boolean },
): CrowdedEffect {
  return (state) => {
    const document = state.names.get(path) ?? made
    if (document === undefined) return { state, answer: 'ENOENT' }
    const isEmpty = truncates || !state.names.has(path)
    return {
      state: {
        names: new Map(state.names).set(path, document),
        lengths: isEmpty ? new Map(state.lengths).set(document, 0) : state.lengths,
        handles: new Map(state.handles).set(handle, document),
      },
      answer: 'done',
    }
  }
}

/** Answers the length of what a handle reads, from its beginning to its end. */
export function readBy(handle: number): CrowdedEffect {
  return (state) => ({ state, answer: String(state.lengths.get(state.handles.get(handle) ?? NaN)) })
}

/** All of it is this content from now on. */
export function writtenBy(handle: number, length: number): CrowdedEffect {
  return (state) => {
    const document = state.handles.get(handle) ?? NaN
    return { state: { ...state, lengths: new Map(state.lengths).set(document, length) }, answer: 'done' }
  }
}

export function closed(state: CrowdedState, handle: number): CrowdedState {
  const handles = new Map(state.handles)
  return handles.delete(handle) ? pruned({ ...state, handles }) : state
}

/** Without documents that have no name and are not open. */
function pruned({ names, lengths, handles }: CrowdedState): CrowdedState {
  const documents = new Set([...names.values(), ...handles.values()])
  return { names, handles, lengths: new Map([...lengths].filter(([document]) => documents.has(document))) }
}
