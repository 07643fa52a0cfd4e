// A folder that another client works in, too: documents that both store, replace and delete there. Expectations of it
// are in shared-ledger.ts, work on folders in it is in shared-folders.ts.

import type { Chance } from '../model/chance.ts'
import type { Calls } from '../support/door.ts'
import { folderOf, type ServiceModel } from './service-model.ts'
import type { SharedLedger } from './shared-ledger.ts'

export const sharedFolder = '/shared'

/** So many documents are written there. */
export const sharedNames = 4
/** More than any document there is long. */
const mostBytes = 1_000_000
/** A document may be gone, and a drive may be dead, at any time. */
const passing = ['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN', 'ENOSPC', 'EACCES', 'ENOENT', 'ENOTCONN', 'ESTALE']

export interface SharedFolderOptions {
  readonly service: ServiceModel
  readonly ledger: SharedLedger
  readonly calls: () => Calls
  /** True while the drive looks at what it is about to replace there: the race that the interface leaves open. */
  readonly isSending: (path: string) => boolean
  /** How often a program here appends, beside all the rest. */
  readonly appends: number
  readonly note: (line: string) => void
}

export class SharedFolder {
  readonly #options: SharedFolderOptions
  readonly #programs: SharedPrograms

  constructor(options: SharedFolderOptions) {
    this.#options = options
    this.#programs = new SharedPrograms(options)
    options.service.isSending = options.isSending
  }

  /** The other client stores, replaces or deletes a document. */
  otherActs(chance: Chance): boolean {
    return otherActsOn(this.#options, this.#path(chance), chance)
  }

  /** A program here does something. */
  async act(chance: Chance): Promise<void> {
    const { note, appends } = this.#options
    const path = this.#path(chance)
    const kind = chance.weighted({ write: 5, save: 3, rename: 2, unlink: 1, read: 4, append: appends })
    note(`${kind} ${path}`)
    await passOver(passing, async () => {
      if (kind === 'rename') await this.#programs.rename(path, this.#path(chance))
      else await this.#programs[kind](path, chance)
    })
  }

  #path(chance: Chance): string {
    return sharedDocument(chance)
  }
}

export function sharedDocument(chance: Chance): string {
  return `${sharedFolder}/n${chance.below(sharedNames)}.txt`
}

/** The other client stores, replaces or deletes a document there. False where nothing is done: the drive is at it. */
export function otherActsOn(
  { service, ledger, isSending, note }: SharedFolderOptions,
  path: string,
  chance: Chance,
): boolean {
  if (isSending(path)) return false
  const isThere = service.documents.has(path)
  const isDelete = isThere && chance.random() < 0.3
  if (isThere) ledger.otherRemoves(path)
  note(`the other client ${isDelete ? 'deletes' : 'stores'} ${path}`)
  if (!isDelete) ledger.otherStores(path, ledger.content(chance))
  return true
}

/** Errors that a program may meet beside another client are no failure. */
export async function passOver(codes: readonly string[], act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Programs here at work on one document each. */
export class SharedPrograms {
  readonly #options: Pick<SharedFolderOptions, 'calls' | 'ledger'>
  #lastScratch = 0

  constructor(options: Pick<SharedFolderOptions, 'calls' | 'ledger'>) {
    this.#options = options
  }

  async write(path: string, chance: Chance): Promise<void> {
    const { ledger, calls } = this.#options
    const bytes = ledger.content(chance)
    const done = ledger.begin([path], false)
    await this.#takingAll(bytes, 0, () => calls().writeFile(path, bytes))
    ledger.saved(path, bytes, done)
  }

  async #takingAll(bytes: Buffer, from: number, write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#options.ledger.refused(bytes, from)
      throw error
    }
  }

  async save(path: string, chance: Chance): Promise<void> {
    const { ledger, calls } = this.#options
    const bytes = ledger.content(chance)
    const scratch = `${folderOf(path)}/.goutputstream-${++this.#lastScratch}`
    const done = ledger.begin([path], false)
    await calls().writeFile(scratch, bytes)
    await calls().rename(scratch, path)
    ledger.saved(path, bytes, done)
  }

  /** Appended bytes come behind those that the program has read, or nowhere. */
  async append(path: string, chance: Chance): Promise<void> {
    const { ledger, calls } = this.#options
    const done = ledger.begin([path], false)
    const outdated = ledger.outdated(path)
    const file = await calls().open(path, 'r+')
    let whole: Buffer
    try {
      const before = await file.read(mostBytes, 0)
      ledger.shown(path, before, outdated)
      const [grown, from] = [ledger.content(chance, before), before.length]
      await this.#takingAll(grown, from, () => file.write(grown.subarray(from), from))
      whole = grown
    } finally {
      await file.close()
    }
    ledger.saved(path, whole, done)
  }

  async rename(path: string, to: string): Promise<void> {
    if (path === to) return
    const done = this.#options.ledger.renames(path, to)
    await this.#options.calls().rename(path, to)
    done()
  }

  async unlink(path: string): Promise<void> {
    const { ledger, calls } = this.#options
    const done = ledger.begin([path], true)
    await calls().unlink(path)
    ledger.ended(done)
  }

  async read(path: string): Promise<Buffer> {
    const { ledger, calls } = this.#options
    const outdated = ledger.outdated(path)
    const bytes = await calls().readFile(path)
    ledger.shown(path, bytes, outdated)
    return bytes
  }
}
