// The next steps of a program, chosen by chance and by what is there.

import type { Chance } from './chance.ts'
import { isLocalOnly, type Model, type Operation } from './model.ts'

/** An operation of a program, or a look; `touch` sets the modification time (seconds since 1970). */
export type Action =
  | Operation
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'touch'; readonly path: string; readonly mtimeSec: number }

/** An action, or a pause (ms) before the next. */
export type Step = Action | { readonly kind: 'rest'; readonly ms: number }

/** How often a program does what, beside the rest. */
const usual = {
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
  renameFolder: 2,
  read: 12,
}

/** Kinds that only a test with a taste for them does: each has once found something lost. */
const rare = {
  sameLength: 0,
  renameSameLength: 0,
  remake: 0,
  rewriteLarge: 0,
  replaceByRename: 0,
  renamedBackup: 0,
  savedBackup: 0,
  renameTwice: 0,
  clearFolder: 0,
  fleetingFolder: 0,
  brief: 0,
  cut: 0,
  cutWhileClosing: 0,
  again: 0,
  becomesFolder: 0,
  becomesDocument: 0,
}

type Kind = keyof typeof usual | keyof typeof rare

/** Of some of the simulated worlds only. */
type Special = 'touch' | 'rewriteSlowly' | 'handOn' | 'sameSecond' | 'onItsWay'

export type Taste = Readonly<Record<Kind | Special, number>>

/** As programs do in general. */
const usualTaste: Taste = {
  ...usual,
  ...rare,
  touch: 0,
  rewriteSlowly: 0,
  handOn: 0,
  sameSecond: 0,
  onItsWay: 0,
}

/** As the simulated world has them. */
export const richTaste: Readonly<Record<Kind, number>> = {
  ...usual,
  sameLength: 4,
  renameSameLength: 3,
  remake: 4,
  rewriteLarge: 0.5,
  replaceByRename: 3,
  renamedBackup: 3,
  savedBackup: 3,
  renameTwice: 3,
  clearFolder: 4,
  fleetingFolder: 4,
  brief: 4,
  cut: 3,
  cutWhileClosing: 3,
  again: 4,
  becomesFolder: 3,
  becomesDocument: 3,
}

/** How often content is of which size. */
export type Sizes = Readonly<Record<'small' | 'empty' | 'medium' | 'large', number>>

/** Empty ones are only created; what is larger than a page of the journal is synced by itself. */
export const usualSizes: Sizes = { small: 90, empty: 3, large: 3, medium: 4 }

export class Choices {
  readonly #folder: string
  readonly #taste: Taste
  readonly #chance: Chance
  readonly #renamesFolders: boolean
  readonly #mostDocuments: number
  readonly #mostFolders: number
  readonly #sizes: Sizes
  #lastName = 0

  constructor(
    folder: string,
    chance: Chance,
    options: {
      renamesFolders: boolean
      mostDocuments?: number
      mostFolders?: number
      taste?: Taste
      sizes?: Sizes
    },
  ) {
    this.#sizes = options.sizes ?? usualSizes
    this.#taste = options.taste ?? usualTaste
    this.#folder = folder
    this.#mostDocuments = options.mostDocuments ?? 60
    this.#mostFolders = options.mostFolders ?? 8
    this.#renamesFolders = options.renamesFolders
    this.#chance = chance
  }

  /** One operation, several as an editor makes them, a look, or nothing. */
  next(model: Model): Step[] {
    const chance = this.#chance
    const taste = this.#taste
    const kind = chance.weighted({ ...taste, renameFolder: this.#renamesFolders ? taste.renameFolder : 0 })
    const documents = pathsIn(model, (path, content) => content !== undefined && !isLocalOnly(path))
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
        const isBackup = (path: string): boolean => path.endsWith('~') && !model.isFolder(path.slice(0, -1))
        const [backup] = pathsIn(model, (path, content) => content !== undefined && isBackup(path))
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
      case 'sameLength': {
        const [path, length] = [any(), 1 + chance.below(3_000)]
        return [1, 2].flatMap(() => [this.#write(path, chance.bytes(length)), { kind: 'read', path }])
      }
      case 'renameSameLength': {
        const [from, to, length] = [any(), free(), 1 + chance.below(3_000)]
        const both = [from, to].flatMap((path): Action[] => [
          this.#write(path, chance.bytes(length)),
          { kind: 'read', path },
        ])
        return [...both, { kind: 'rename', path: from, to }, { kind: 'read', path: to }]
      }
      case 'sameSecond': {
        // The second version is as long as the first, and perhaps of the same second.
        const [from, path] = [any(), any()]
        const length = model.tree.get(from)?.length ?? 0
        if (from === path || length === 0) return []
        const read: Action = { kind: 'read', path }
        const rest = (): Step => ({ kind: 'rest', ms: chance.random() * 300 })
        const second: Action =
          chance.random() < 0.5
            ? this.#write(path, chance.bytes(length))
            : { kind: 'rename', path: from, to: path }
        return [this.#write(path, chance.bytes(length)), read, rest(), second, rest(), read]
      }
      case 'onItsWay': {
        // Gone from its name before the service has it.
        const rest: Step = { kind: 'rest', ms: chance.random() * 2_500 }
        if (chance.random() < 0.5) {
          const path = free()
          const saved: Action = { kind: 'write slowly', path, content: this.#content() }
          return [this.#write(path), { kind: 'rename', path, to: `${path}~` }, rest, saved]
        }
        const folder = `${this.#folder}/d${++this.#lastName}`
        const path = `${folder}/a.txt`
        const made: Action[] = [{ kind: 'mkdir', path: folder }, this.#write(path)]
        return [...made, { kind: 'unlink', path }, rest, { kind: 'rmdir', path: folder }]
      }
      case 'handOn':
        return [{ kind: 'hand on', path: any(), content: chance.bytes(2 + chance.below(3_000)) }]
      case 'remake': {
        const path = any()
        return [this.#write(path), { kind: 'unlink', path }, this.#write(path)]
      }
      case 'rewriteLarge': {
        // Too large to go out with the DELETE of what it replaces.
        const path = any()
        const large = chance.bytes(1_100_000)
        return [
          this.#write(path, large),
          this.#write(path),
          this.#write(path, large.subarray(1)),
          this.#write(path),
        ]
      }
      case 'rewriteSlowly': {
        // Accepted, in a file of its own, and not sent yet.
        const path = any()
        return [
          this.#write(path, chance.bytes(140_000 + chance.below(100_000))),
          { kind: 'write slowly', path, content: this.#content() },
        ]
      }
      case 'replaceByRename': {
        const [path, from] = [any(), any()]
        if (from === path) return []
        return [this.#write(path), { kind: 'unlink', path }, { kind: 'rename', path: from, to: path }]
      }
      case 'renamedBackup': {
        const [from, path] = [any(), free()]
        return [{ kind: 'rename', path: from, to: path }, ...this.#backedUpSave(path)]
      }
      case 'savedBackup': {
        const path = any()
        return [this.#write(path), ...this.#backedUpSave(path), this.#write(path)]
      }
      case 'renameTwice': {
        const [path, over, last] = [any(), free(), free()]
        if (over === last) return []
        return [
          { kind: 'rename', path, to: over },
          { kind: 'rename', path: over, to: last },
        ]
      }
      case 'clearFolder': {
        const full = folders.slice(1).find((folder) => model.under(folder).length > 1)
        return full === undefined ? [] : cleared(model, full)
      }
      case 'becomesFolder': {
        if (folders.length > this.#mostFolders) return []
        const path = any()
        return [{ kind: 'unlink', path }, { kind: 'mkdir', path }, this.#write(`${path}/a.txt`)]
      }
      case 'becomesDocument': {
        // A name without an extension is judged by its content.
        const folder = folders.slice(1).find((path) => /\.\w+$/.test(path))
        return folder === undefined ? [] : [...cleared(model, folder), this.#write(folder)]
      }
      case 'fleetingFolder': {
        const folder = `${this.#folder}/d${++this.#lastName}`
        const [first, moved] = [`${folder}/a.txt`, any()]
        return [
          { kind: 'mkdir', path: folder },
          this.#write(first),
          { kind: 'rename', path: moved, to: `${folder}/b.txt` },
          { kind: 'unlink', path: first },
          { kind: 'unlink', path: `${folder}/b.txt` },
          { kind: 'rmdir', path: folder },
        ]
      }
      case 'brief': {
        const path = free()
        return [this.#write(path, chance.bytes(chance.pick([3_000, 40_000]))), { kind: 'unlink', path }]
      }
      case 'touch':
        return [{ kind: 'touch', path: any(), mtimeSec: 1_500_000_000 + chance.below(100_000_000) }]
      case 'cut':
        return [{ kind: 'cut', path: any(), size: chance.below(3_000) }]
      case 'cutWhileClosing': {
        const content = chance.bytes(1 + chance.below(3_000))
        return [{ kind: 'cut while closing', path: any(), content, size: chance.below(content.length) }]
      }
      case 'again':
        return this.#again(chance.random() < 0.6 ? any() : free(), free(), model)
    }
  }

  #write(path: string, content = this.#content()): Action {
    return { kind: 'write', path, content }
  }

  /** The same document again and again, while what was done with it is on its way. */
  #again(path: string, other: string, model: Model): Step[] {
    if (path === other) return []
    const chance = this.#chance
    const there = new Set([path, `${path}~`].filter((each) => model.tree.has(each)))
    const steps: Step[] = []
    const move = (from: string, to: string): void => {
      there.delete(from)
      there.add(to)
      steps.push({ kind: 'rename', path: from, to })
    }
    for (let left = 3 + chance.below(4); left > 0; left--) {
      const kind = chance.weighted({ write: 5, unlink: 3, away: 2, backup: 2 })
      if (kind === 'unlink' && there.delete(path)) steps.push({ kind: 'unlink', path })
      else if (kind === 'away' && there.has(path)) move(path, other)
      else if (kind === 'backup' && there.has(path)) move(path, `${path}~`)
      else if (kind === 'away' && there.has(other)) move(other, path)
      else {
        there.add(path)
        // Now and then too large to go out with the DELETE of what it replaces.
        steps.push(this.#write(path, chance.random() < 0.03 ? chance.bytes(1_100_000) : this.#content()))
      }
      steps.push({ kind: 'rest', ms: chance.random() * chance.pick([0, 20, 200, 1_000, 3_000]) })
    }
    return steps
  }

  /** As editors do that keep the version before. */
  #backedUpSave(path: string): Action[] {
    const rest: Action[] = this.#chance.random() < 0.5 ? [] : [{ kind: 'unlink', path: `${path}~` }]
    return [{ kind: 'rename', path, to: `${path}~` }, this.#write(path), ...rest]
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
    const kind = chance.weighted(this.#sizes)
    const bytes = {
      small: chance.below(4_000),
      empty: 0,
      medium: 10_000 + chance.below(100_000),
      large: 300_000,
    }
    return chance.bytes(bytes[kind])
  }
}

/** Away with a folder: what is below goes first. */
function cleared(model: Model, folder: string): Action[] {
  const below = model.under(folder).sort().reverse()
  return below.map((path) => ({ kind: model.isFolder(path) ? 'rmdir' : 'unlink', path }))
}

function pathsIn(model: Model, matches: (path: string, content: Buffer | undefined) => boolean): string[] {
  return [...model.tree].filter(([path, content]) => matches(path, content)).map(([path]) => path)
}
