// Folders in which several programs work at once: on the same few documents, and on the folders themselves. Each holds the folder open
// in which it calls. Each answer is held against the orders in which the calls can have happened; when all is quiet,
// the service has what is in the folders, and nothing else.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import type { Calls, OpenFile } from '../support/door.ts'
import type { OpenFolder } from '../support/open-folder.ts'
import type { Crowd } from './crowd.ts'
import { codeOf, crowdedFolder, isPassing } from './crowd.ts'
import {
  closed,
  documentOpened,
  documentPlaced,
  documentRemoved,
  folderMade,
  folderOpened,
  folderRemoved,
  keyOfTree,
  listed,
  looked,
  readBy,
  renamed,
  treeOf,
  type Place,
  type Shown,
  type TreeEffect,
  type TreeState,
} from './crowded-tree-state.ts'
import { PossibleOrders } from './possible-orders.ts'
import type { ServiceModel } from './service-model.ts'

const documentNames = ['a.txt', 'b.txt'] as const
const folderNames = ['d', 'e'] as const
const names = [...documentNames, ...folderNames]
/** Where programs work, seen from the folder that holds all of it. */
const workplaces: readonly (readonly string[])[] = [[], [], ['d'], ['e'], ['d', 'e'], ['e', 'd'], ['a.txt']]
const taste = {
  save: 6,
  'rename document': 3,
  'rename folder': 4,
  unlink: 2,
  mkdir: 4,
  rmdir: 3,
  list: 3,
  stat: 2,
  read: 2,
  'read slowly': 2,
}
const longestReadMs = 3_000
const largeBytes = 150_000
/** The handle of the folder that holds all of it: always open. */
const whole = 0
const answers = new Set(['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EINVAL'])

export interface CrowdedTreeOptions {
  readonly service: ServiceModel
  readonly calls: () => Calls
  readonly root: () => OpenFolder
  readonly pause: (ms: number) => Promise<void>
  readonly note: (line: string) => void
}

/** A folder that a program holds open. */
interface Held {
  readonly handle: number
  readonly folder: OpenFolder
  /** As it was opened. */
  readonly path: string
}

export class CrowdedTree implements Crowd {
  readonly #options: CrowdedTreeOptions
  readonly #contents = new Map<number, Buffer>()
  readonly #orders = new PossibleOrders<TreeState>(treeOf(new Map(), whole), keyOfTree)
  /** Removals that failed: the service may have done them, and a later listing tells. */
  #late: number[] = []
  #lastHandle = whole
  #lastItem = 0
  #lastScratch = 0

  constructor(options: CrowdedTreeOptions) {
    this.#options = options
  }

  /** A program does something. */
  async act(chance: Chance): Promise<void> {
    const kind = chance.weighted(taste)
    const ofDocuments = kind === 'save' || kind === 'rename document'
    const name = chance.pick(ofDocuments ? documentNames : kind === 'rename folder' ? folderNames : names)
    const [workplace, other] = [chance.pick(workplaces), chance.pick(workplaces)]
    const newName = kind === 'rename document' ? chance.pick(documentNames) : chance.pick(names)
    const content = kind === 'save' ? this.#content(chance) : Buffer.alloc(0)
    const pauseMs = kind === 'read slowly' ? chance.random() * longestReadMs : 0
    await this.#in(workplace, async (held) => {
      const place = { held, name }
      if (kind === 'save') return this.#save(place, content)
      if (kind === 'list') return void (await this.#list(held))
      if (kind === 'stat') return void (await this.#stat(place))
      if (kind === 'unlink') return this.#unlink(place)
      if (kind === 'mkdir') return this.#mkdir(place)
      if (kind === 'rmdir') return this.#rmdir(place)
      if (kind === 'read' || kind === 'read slowly') return void (await this.#read(place, pauseMs))
      await this.#in(other, (to) => this.#rename(place, { held: to, name: newName }))
    })
  }

  /** The drive has begun again. A power cut takes back what nobody was told to be durable: what shows then is the beginning. */
  async goOn(wasCut: boolean): Promise<void> {
    if (!wasCut) return
    this.#late = []
    this.#orders.known(treeOf(await this.#shown(crowdedFolder), whole))
  }

  /** No call is under way, and nothing is unsent. */
  async check(): Promise<void> {
    const shown = new Map<string, number | undefined>()
    await this.#in([], (held) => this.#walk(held, shown))
    for (const late of this.#late) this.#orders.end(late, undefined)
    this.#late = []
    const { documents, folders } = this.#options.service
    for (const [path, length] of shown) {
      if (length !== undefined && documents.get(path)?.bytes.length !== length)
        throw new Loss(
          `${path}: ${documents.get(path)?.bytes.length ?? 'no'} bytes in the service, ${length} are shown`,
        )
    }
    for (const path of [...documents.keys(), ...folders]) {
      const isOurs = path.startsWith(`${crowdedFolder}/`) && !path.startsWith(`${crowdedFolder}/.`)
      if (isOurs && !shown.has(path)) throw new Loss(`${path} is in the service, and is not shown`)
    }
  }

  async #walk(held: Held, shown: Map<string, number | undefined>): Promise<void> {
    for (const name of sure(await this.#list(held), held.path).split(',')) {
      if (name === '') continue
      const path = `${held.path}/${name}`
      const is = sure(await this.#stat({ held, name }), path)
      if (is !== 'folder') {
        shown.set(path, Number(sure(await this.#read({ held, name }, 0), path)))
        continue
      }
      shown.set(path, undefined)
      await this.#into(held, name, (child) => this.#walk(child, shown))
    }
  }

  /** Holds a folder open, if it is there. */
  async #in(path: readonly string[], work: (held: Held) => Promise<void>): Promise<void> {
    let folder: OpenFolder
    try {
      folder = await this.#options.root().openFolder(crowdedFolder.slice(1))
    } catch (error) {
      if (isPassing(codeOf(error))) return
      throw error
    }
    const enter = (held: Held, [name, ...rest]: readonly string[]): Promise<void> =>
      name === undefined ? work(held) : this.#into(held, name, (child) => enter(child, rest))
    try {
      await enter({ handle: whole, folder, path: crowdedFolder }, path)
    } finally {
      await folder.close().catch(() => {})
    }
  }

  /** Holds a folder in it open. One that is not there is made. */
  async #into(held: Held, name: string, work: (child: Held) => Promise<void>): Promise<void> {
    const handle = ++this.#lastHandle
    const place = { held, name }
    let folder: OpenFolder | undefined
    try {
      const effect = folderOpened(placeOf(place), handle)
      const answer = await this.#call(`open ${nameOf(place)}/`, effect, async () => {
        folder = await held.folder.openFolder(name)
      })
      if (folder !== undefined) await work({ handle, folder, path: nameOf(place) })
      else if (answer === 'ENOENT') await this.#mkdir(place)
    } finally {
      await folder?.close().catch(() => {})
      this.#orders.happens((state) => closed(state, handle))
    }
  }

  async #save(place: At, content: Buffer): Promise<void> {
    const { calls, root } = this.#options
    const scratch = `.goutputstream-t${++this.#lastScratch}`
    const what = `save ${nameOf(place)} ${content.length} bytes`
    this.#options.note(what)
    let crowd: OpenFolder | undefined
    try {
      await calls().writeFile(`${crowdedFolder}/${scratch}`, content)
      crowd = await root().openFolder(crowdedFolder.slice(1))
      const from = crowd
      const document = ++this.#lastItem
      await this.#call(what, documentPlaced(placeOf(place), document, content.length), async () => {
        await from.rename(scratch, place.held.folder, place.name)
      })
    } catch (error) {
      if (!isPassing(codeOf(error))) throw error
    } finally {
      await crowd?.close().catch(() => {})
    }
  }

  async #rename(from: At, to: At): Promise<void> {
    const what = `rename ${nameOf(from)} → ${nameOf(to)}`
    this.#options.note(what)
    await this.#call(what, renamed(placeOf(from), placeOf(to)), async () => {
      await from.held.folder.rename(from.name, to.held.folder, to.name)
    })
  }

  async #unlink(place: At): Promise<void> {
    this.#options.note(`unlink ${nameOf(place)}`)
    await this.#call(`unlink ${nameOf(place)}`, documentRemoved(placeOf(place)), async () => {
      await place.held.folder.unlink(place.name)
    })
  }

  async #mkdir(place: At): Promise<void> {
    const made = ++this.#lastItem
    await this.#call(`mkdir ${nameOf(place)}`, folderMade(placeOf(place), made), () =>
      place.held.folder.mkdir(place.name),
    )
  }

  async #rmdir(place: At): Promise<void> {
    const what = `rmdir ${nameOf(place)}`
    this.#options.note(what)
    await this.#call(
      what,
      folderRemoved(placeOf(place)),
      () => place.held.folder.rmdir(place.name),
      (call) => {
        this.#late.push(call)
      },
    )
  }

  /** Its names; undefined where nobody can tell. */
  async #list(held: Held): Promise<string | undefined> {
    return this.#call(`list ${held.path}`, listed(held.handle), async () => {
      const found = await held.folder.names().catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return []
        throw error
      })
      return found
        .filter((name) => !name.startsWith('.'))
        .toSorted()
        .join()
    })
  }

  async #stat(place: At): Promise<string | undefined> {
    return this.#call(`stat ${nameOf(place)}`, looked(placeOf(place)), async () =>
      String((await place.held.folder.sizeOf(place.name)) ?? 'folder'),
    )
  }

  /** Its length, or what it cannot be read for; undefined where nobody can tell. Read a while after it was opened. */
  async #read(place: At, afterMs: number): Promise<string | undefined> {
    const handle = ++this.#lastHandle
    let file: OpenFile | undefined
    try {
      const what = `open ${nameOf(place)}`
      const answer = await this.#call(what, documentOpened(placeOf(place), handle), async () => {
        file = await place.held.folder.open(place.name, 'r')
      })
      if (file === undefined) return answer
      if (afterMs > 0) await this.#options.pause(afterMs)
      const shown = file
      return await this.#call(`read ${nameOf(place)}`, readBy(handle), async () =>
        String(this.#known(nameOf(place), await shown.read(2 * largeBytes, 0))),
      )
    } finally {
      await file?.close().catch(() => {})
      this.#orders.happens((state) => closed(state, handle))
    }
  }

  /** Runs a call. Throws a Loss where what it answers cannot be. `onFailed`: it may still happen, and is ended by somebody else. */
  async #call(
    what: string,
    effect: TreeEffect,
    run: () => Promise<string | void>,
    onFailed?: (call: number) => void,
  ): Promise<string | undefined> {
    const call = this.#orders.begin(effect)
    let answer: string | undefined
    let code = ''
    try {
      answer = (await run()) ?? 'done'
    } catch (error) {
      code = codeOf(error)
      if (error instanceof Loss || (!answers.has(code) && !isPassing(code))) throw error
      answer = answers.has(code) ? code : undefined
    }
    this.#options.note(`${what}: ${answer ?? code}`)
    if (answer === undefined && onFailed !== undefined) onFailed(call)
    else if (!this.#orders.end(call, answer))
      throw new Loss(`${what} answers ${answer}, and in no order of the calls it can`)
    return answer
  }

  async #shown(path: string): Promise<Shown> {
    const shown = new Map<string, number | Shown>()
    const calls = this.#options.calls()
    for (const name of await calls.readdir(path)) {
      if (name.startsWith('.')) continue
      const at = `${path}/${name}`
      const isFolder = (await calls.stat(at)).kind === 'folder'
      shown.set(name, isFolder ? await this.#shown(at) : this.#known(at, await calls.readFile(at)))
    }
    return shown
  }

  /** The length of a content that was written here. */
  #known(path: string, bytes: Buffer): number {
    if (this.#contents.get(bytes.length)?.equals(bytes) !== true)
      throw new Loss(`${path}: ${bytes.length} bytes that nobody has written`)
    return bytes.length
  }

  #content(chance: Chance): Buffer {
    const number = this.#contents.size + 1
    const content = chance.bytes(chance.random() < 0.2 ? largeBytes + number : number)
    this.#contents.set(content.length, content)
    return content
  }
}

/** A name in a folder that is held open. */
interface At {
  readonly held: Held
  readonly name: string
}

function placeOf({ held, name }: At): Place {
  return { folder: held.handle, name }
}

function nameOf({ held, name }: At): string {
  return `${held.path}/${name}`
}

/** Throws EIO where the answer is unknown: such a look is repeated a few times. */
function sure(answer: string | undefined, path: string): string {
  if (answer === undefined) throw Object.assign(new Error(`${path} cannot be read`), { code: 'EIO' })
  return answer
}
