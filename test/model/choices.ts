// What a program does next, by chance and by what is there.

import type { Chance } from './chance.ts'
import { isScratch, type Model, type Operation } from './model.ts'

/** What a program does, and looking. */
export type Action = Operation | { readonly kind: 'read'; readonly path: string }

export class Choices {
  readonly #folder: string
  readonly #chance: Chance
  readonly #renamesFolders: boolean
  readonly #mostDocuments: number
  readonly #mostFolders: number
  #lastName = 0

  constructor(
    folder: string,
    chance: Chance,
    options: { renamesFolders: boolean; mostDocuments?: number; mostFolders?: number },
  ) {
    this.#folder = folder
    this.#mostDocuments = options.mostDocuments ?? 60
    this.#mostFolders = options.mostFolders ?? 8
    this.#renamesFolders = options.renamesFolders
    this.#chance = chance
  }

  /** One operation, several as an editor makes them, a look, or nothing. */
  next(model: Model): Action[] {
    const chance = this.#chance
    const kind = chance.weighted({
      write: 24,
      over: 22,
      append: 10,
      truncate: 5,
      rename: 8,
      renameOver: 4,
      rewrite: 8,
      renameUnsent: 4,
      slowly: 6,
      gio: 6,
      vim: 6,
      backup: 2,
      restore: 2,
      unlink: 9,
      mkdir: 4,
      rmdir: 3,
      renameFolder: this.#renamesFolders ? 2 : 0,
      read: 12,
    })
    const documents = pathsIn(model, (path, content) => content !== undefined && !isScratch(path))
    const folders = [this.#folder, ...pathsIn(model, (_path, content) => content === undefined)]
    const any = (): string => chance.pick(documents)
    const fresh = (): string =>
      `${chance.pick(folders)}/f${++this.#lastName}.${chance.pick(['txt', 'txt', 'csv', 'pdf'])}`
    // Names come back, as people's do: what was deleted or renamed away is made again.
    const reused = (): string => `${chance.pick(folders)}/n${chance.below(6)}.txt`
    const free = (): string => [reused(), fresh()].find((path) => !model.tree.has(path)) ?? fresh()
    if (documents.length === 0) return [{ kind: 'write', path: free(), content: this.#content() }]
    switch (kind) {
      case 'write':
        return documents.length > this.#mostDocuments
          ? [{ kind: 'unlink', path: any() }]
          : [{ kind: 'write', path: free(), content: this.#content() }]
      case 'over':
        return [{ kind: 'write', path: any(), content: this.#content() }]
      case 'rewrite': {
        // Again before it is sent.
        const path = any()
        return [1, 2, 3].map(() => ({ kind: 'write', path, content: this.#content() }))
      }
      case 'slowly':
        return [{ kind: 'write slowly', path: any(), content: this.#content() }]
      case 'renameUnsent': {
        const [from, to] = [free(), any()]
        return [
          { kind: 'write', path: from, content: this.#content() },
          { kind: 'rename', path: from, to },
          { kind: 'write', path: from, content: this.#content() },
          { kind: 'write', path: to, content: this.#content() },
          { kind: 'rename', path: from, to },
        ]
      }
      case 'append':
        return [{ kind: 'append', path: any(), content: this.#content() }]
      case 'truncate':
        return [{ kind: 'truncate', path: any(), size: chance.below(3_000) }]
      case 'rename':
        return [{ kind: 'rename', path: any(), to: free() }]
      case 'renameOver': {
        const [from, to] = [any(), any()]
        return from === to ? [] : [{ kind: 'rename', path: from, to }]
      }
      case 'gio':
        return this.#gioSave(any())
      case 'vim': {
        const path = any()
        return [
          { kind: 'rename', path, to: `${path}~` },
          { kind: 'write', path, content: this.#content() },
          { kind: 'unlink', path: `${path}~` },
        ]
      }
      case 'backup': {
        const path = any()
        return [{ kind: 'rename', path, to: `${path}~` }]
      }
      case 'restore': {
        const [backup] = pathsIn(model, (path, content) => content !== undefined && path.endsWith('~'))
        return backup === undefined ? [] : [{ kind: 'rename', path: backup, to: backup.slice(0, -1) }]
      }
      case 'unlink':
        return [{ kind: 'unlink', path: any() }]
      case 'mkdir':
        return folders.length > this.#mostFolders
          ? []
          : [{ kind: 'mkdir', path: `${chance.pick(folders.slice(0, 3))}/d${++this.#lastName}` }]
      case 'rmdir': {
        const empty = folders.slice(1).find((folder) => model.under(folder).length === 1)
        return empty === undefined ? [] : [{ kind: 'rmdir', path: empty }]
      }
      case 'renameFolder': {
        const folder = folders.slice(1).at(chance.below(folders.length - 1))
        return folder === undefined
          ? []
          : [
              {
                kind: 'rename',
                path: folder,
                to: `${folder.slice(0, folder.lastIndexOf('/'))}/d${++this.#lastName}`,
              },
            ]
      }
      case 'read':
        return [{ kind: 'read', path: any() }]
    }
  }

  #gioSave(path: string): Operation[] {
    const scratch = `${path.slice(0, path.lastIndexOf('/'))}/.goutputstream-${++this.#lastName}`
    return [
      { kind: 'write', path: scratch, content: this.#content() },
      { kind: 'rename', path: scratch, to: path },
    ]
  }

  #content(): Buffer {
    const chance = this.#chance
    // Empty ones are only created; what is larger than a page of the journal is synced by itself.
    const kind = chance.weighted({ small: 90, empty: 3, large: 3, medium: 4 })
    const bytes = {
      small: chance.below(4_000),
      empty: 0,
      medium: 10_000 + chance.below(100_000),
      large: 300_000,
    }
    return chance.bytes(bytes[kind])
  }
}

function pathsIn(model: Model, matches: (path: string, content: Buffer | undefined) => boolean): string[] {
  return [...model.tree].filter(([path, content]) => matches(path, content)).map(([path]) => path)
}
