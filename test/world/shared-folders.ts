// Folders that another client works in, too: both make them, store documents in them and remove them, and a name that was a
// folder may be a document next. Programs here rename them besides. Only in some worlds (sorts-of-world.ts).

import { isLocalOnly } from '../model/model.ts'
import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import { folderOf, isAtOrBelow, nameOf } from './service-model.ts'
import {
  otherActsOn,
  passOver,
  sharedDocument,
  sharedFolder,
  SharedPrograms,
  type SharedFolderOptions,
} from './shared-folder.ts'

/** Each with a folder in it, and documents in both. The names are taken for documents as well. */
const folders = [`${sharedFolder}/f0.txt`, `${sharedFolder}/f1.txt`]
const inner = 's.txt'
const namesInEach = 2
/** So many documents may be written in them, or stand in their places. */
export const namesInFolders = folders.length * 2 * (namesInEach + 1)
/** Errors of a place where a folder, a document or nothing may be at any time, on a drive that may be dead. */
const passing = [
  'EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN', 'ENOSPC', 'EACCES', 'ENOENT', 'ENOTCONN', 'ESTALE', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EINVAL',
] // prettier-ignore

export class SharedFolders {
  readonly #options: SharedFolderOptions
  readonly #programs: SharedPrograms
  /** The folder that a program here was last about to remove, or to rename. */
  #left = `${folders[0]}/${inner}`

  constructor(options: SharedFolderOptions) {
    this.#options = options
    this.#programs = new SharedPrograms(options)
    // No file exists at that path, and 409 is for that alone (interface, "Errors").
    options.service.refusesBelowDocuments = true
  }

  /** The other client works in a folder, removes it with all that is in it, or puts a document in its place, or a folder where a document is. */
  otherActs(chance: Chance): boolean {
    const { service, ledger, isSending, note } = this.#options
    const kind = chance.weighted({ document: 6, after: 3, remove: 2, replace: 1 })
    // 'after' works in the folder that a program here was last about to remove, or to rename.
    const folder = kind === 'after' ? this.#left : this.#folder(chance)
    const isBusy = [...service.documents.keys()].some((path) => isAtOrBelow(path, folder) && isSending(path))
    if (isBusy || isSending(folder)) return false
    if (kind === 'document' || kind === 'after') {
      const path = this.#documentIn(folder, chance)
      // It takes away a document that is in the way of its folder.
      for (let at = path; at !== sharedFolder; at = folderOf(at)) {
        if (at === path || !service.documents.has(at)) continue
        if (isSending(at)) return false
        note(`the other client deletes ${at}`)
        ledger.otherRemoves(at)
      }
      return otherActsOn(this.#options, path, chance)
    }
    if (!service.folders.has(folder) && kind === 'remove') return false
    note(`the other client removes ${folder}`)
    ledger.otherRemoves(folder)
    if (kind === 'remove') return true
    note(`the other client stores ${folder}`)
    ledger.otherStores(folder, ledger.content(chance))
    return true
  }

  /** A program here does something. */
  async act(chance: Chance): Promise<void> {
    const kind = chance.weighted({
      write: 6, save: 3, rename: 4, renameFolder: 3, unlink: 2, read: 3, mkdir: 3, rmdir: 3, clear: 2, list: 2,
    }) // prettier-ignore
    // A program that has removed a folder often removes the one above it next.
    const isNext = ['rmdir', 'clear'].includes(kind) && chance.random() < 0.4
    const folder = isNext && this.#left.endsWith(`/${inner}`) ? folderOf(this.#left) : this.#folder(chance)
    const path = this.#document(chance)
    this.#options.note(`${kind} ${path.startsWith(`${folder}/`) ? path : `${folder} or ${path}`}`)
    await passOver(passing, async () => {
      switch (kind) {
        case 'rename':
          return this.#rename(path, this.#target(path, chance))
        case 'renameFolder':
          return this.#rename(folder, this.#folder(chance))
        case 'mkdir':
          return this.#options.calls().mkdir(folder)
        case 'rmdir':
          return this.#rmdir(folder)
        case 'clear':
          return this.#clear(folder)
        case 'list':
          return void (await this.#list(folder))
        case 'write':
        case 'save':
        case 'unlink':
        case 'read':
          return this.#programs[kind](path, chance)
      }
    })
  }

  /** A folder over nothing, as far as is shown here. */
  async #rename(path: string, to: string): Promise<void> {
    const { calls, ledger, note } = this.#options
    if (isAtOrBelow(path, to) || isAtOrBelow(to, path)) return
    // Under any other name there is never a folder.
    if (!isFolderName(path)) return this.#programs.rename(path, to)
    if ((await this.#kind(to)) !== undefined) return
    if (!isFolderName(to) && (await this.#kind(path)) !== 'file') return
    note(`renames ${path} → ${to}`)
    this.#left = path
    const done = ledger.renamesFolder(path, to)
    await calls().rename(path, to)
    done()
  }

  async #rmdir(folder: string): Promise<void> {
    this.#left = folder
    await this.#options.calls().rmdir(folder)
  }

  async #kind(path: string): Promise<string | undefined> {
    try {
      return (await this.#options.calls().stat(path)).kind
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      return undefined
    }
  }

  /** As `rm -r` does. */
  async #clear(folder: string): Promise<void> {
    for (const name of await this.#list(folder)) {
      const path = `${folder}/${name}`
      if ((await this.#kind(path)) === 'folder') await this.#clear(path)
      else await this.#programs.unlink(path)
    }
    await this.#rmdir(folder)
    this.#options.note(`cleared ${folder}`)
  }

  /** Throws a Loss where a document that was saved here, and not taken away, is missing from the listing. */
  async #list(folder: string): Promise<string[]> {
    const { calls, ledger } = this.#options
    const before = ledger.standing(folder)
    const names = await calls().readdir(folder)
    const after = new Set(ledger.standing(folder))
    for (const path of before) {
      const [name = ''] = path.slice(folder.length + 1).split('/')
      if (after.has(path) && name !== '' && !names.includes(name))
        throw new Loss(`${path} was saved, and is not listed in ${folder}: ${names.join()}`)
    }
    return names
  }

  /** All of it, and no more. */
  async look(): Promise<void> {
    await this.#tree(sharedFolder, () => true)
  }

  /** Left alone: what is shown is what the service has. `refused`: changes that it has not taken, and that are shown all the same. */
  async check(refused: ReadonlySet<string>): Promise<void> {
    const { service } = this.#options
    const isDoubtful = (path: string): boolean =>
      isLocalOnly(path) || [...refused].some((each) => isAtOrBelow(path, each) || isAtOrBelow(each, path))
    const shown = await this.#tree(sharedFolder, isDoubtful)
    for (const [path, bytes] of shown) {
      // A folder that is empty may be only here.
      if (bytes === undefined || isDoubtful(path)) continue
      const held = service.documents.get(path)?.bytes
      if (held?.equals(bytes) !== true)
        throw new Loss(`${path}: ${bytes.length} bytes are shown, the service has ${held?.length ?? 'none'}`)
    }
    for (const path of [...service.documents.keys(), ...service.folders])
      if (path.startsWith(`${sharedFolder}/`) && !isDoubtful(path) && !shown.has(path))
        throw new Loss(`${path} is in the service, and is not shown`)
  }

  /** Undefined: a folder, or what nobody need be able to read. */
  async #tree(
    folder: string,
    isDoubtful: (path: string) => boolean,
    tree = new Map<string, Buffer | undefined>(),
  ): Promise<Map<string, Buffer | undefined>> {
    const { calls } = this.#options
    for (const name of await this.#names(folder)) {
      const path = `${folder}/${name}`
      const isFolder = (await calls().stat(path)).kind === 'folder'
      tree.set(path, isFolder || isDoubtful(path) ? undefined : await this.#programs.read(path))
      if (isFolder) await this.#tree(path, isDoubtful, tree)
    }
    return tree
  }

  /** A service without empty folders forgets also this one, with the last that was in it (shared seed 1149028). */
  async #names(folder: string): Promise<string[]> {
    return this.#options
      .calls()
      .readdir(folder)
      .catch((error: NodeJS.ErrnoException) => {
        if (folder === sharedFolder && error.code === 'ENOENT') return []
        throw error
      })
  }

  /** A document goes into a folder, or out of it, under its name or another. */
  #target(path: string, chance: Chance): string {
    const folder = this.#folder(chance)
    return chance.random() < 0.3 ? `${folder}/${nameOf(path)}` : this.#document(chance)
  }

  #folder(chance: Chance): string {
    const folder = chance.pick(folders)
    return chance.random() < 0.35 ? `${folder}/${inner}` : folder
  }

  #document(chance: Chance): string {
    const place = chance.random()
    if (place < 0.15) return sharedDocument(chance)
    return place < 0.25 ? this.#folder(chance) : this.#documentIn(this.#folder(chance), chance)
  }

  #documentIn(folder: string, chance: Chance): string {
    return `${folder}/m${chance.below(namesInEach)}.txt`
  }
}

function isFolderName(path: string): boolean {
  return folders.some((folder) => path === folder || path === `${folder}/${inner}`)
}
