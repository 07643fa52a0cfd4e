// Everything that was stored and deleted through a service, so that a listing can be answered as it was a moment ago, and the
// document of a download be named. Bounded: what is older than it reaches back to looks as it did then.

import { folderOf, foldersAbove, nameOf } from '../../../src/path.ts'
import type { FileBody, FolderEntryBody } from '../../../src/service/schemas.ts'

type Node = FileBody | FolderEntryBody

interface Change {
  readonly at: number
  readonly project: string
  readonly path: string
  /** Absent where it was deleted. */
  readonly file?: FileBody
}

const maxChanges = 20_000

export class NodeHistory {
  readonly #stored = new Map<string, { readonly project: string; readonly path: string }>()
  #first = new Map<string, Node>()
  #changes: Change[] = []

  noteStored(project: string, path: string, file: FileBody): void {
    this.#stored.set(nodeOf(file.url), { project, path })
    this.#note({ at: Date.now(), project, path, file })
  }

  noteDeleted(project: string, path: string): void {
    this.#note({ at: Date.now(), project, path })
  }

  /** Project and path of the document that a link to this node leads to. */
  find(node: string): { readonly project: string; readonly path: string } | undefined {
    return this.#stored.get(node)
  }

  /** The JSON of what was at a path then, a folder with its children by name; undefined where nothing was there. */
  bodyAt(project: string, path: string, at: number): object | undefined {
    const nodes = new Map(this.#first)
    for (const change of this.#changes) if (change.at <= at) apply(nodes, change)
    const node = path === '/' ? { ftype: 'folder', name: '/' } : nodes.get(keyOf(project, path))
    if (node?.ftype !== 'folder') return node
    const folder = keyOf(project, path)
    const children = [...nodes].filter(([key]) => folderOf(key) === folder).map(([, child]) => child)
    return { ...node, entries: children.sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  #note(change: Change): void {
    this.#changes.push(change)
    if (this.#changes.length <= 2 * maxChanges) return
    for (const old of this.#changes.splice(0, maxChanges)) apply(this.#first, old)
  }
}

function apply(nodes: Map<string, Node>, { project, path, file }: Change): void {
  const key = keyOf(project, path)
  if (file !== undefined) {
    for (const folder of foldersAbove(path))
      nodes.set(keyOf(project, folder), { ftype: 'folder', name: nameOf(folder) })
    nodes.set(key, file)
    return
  }
  const isFolder = nodes.get(key)?.ftype === 'folder'
  nodes.delete(key)
  if (isFolder) for (const below of nodes.keys()) if (below.startsWith(`${key}/`)) nodes.delete(below)
}

/** Projects are the folders at the top. */
function keyOf(project: string, path: string): string {
  return path === '/' ? `/${project}` : `/${project}${path}`
}

function nodeOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? ''
}
