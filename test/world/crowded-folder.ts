// A folder in which several programs work on the same few names at once. Each answer is held against the orders in
// which the calls can have happened; when all is quiet, the service has what is in the folder, and nothing else.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import { isLocalOnly } from '../model/model.ts'
import type { Calls, OpenFile } from '../support/door.ts'
import { codeOf, crowdedFolder, isPassing, type Crowd } from './crowd.ts'
import {
  closed,
  holding,
  keyOf,
  looked,
  opened,
  placed,
  readBy,
  removed,
  renamed,
  writtenBy,
  type CrowdedState,
} from './crowded-state.ts'
import { PossibleOrders, type Effect } from './possible-orders.ts'
import type { ServiceModel } from './service-model.ts'

const names = ['a.txt', 'b.txt', 'c.txt', 'a.txt~'] as const
const taste = { save: 5, rename: 3, backup: 1, unlink: 2, read: 4, stat: 2, 'read slowly': 2 }
/** So often one is written in place, where that is done. */
const writes = 6
/** A content of this kind goes to a file of its own. */
const largeBytes = 150_000
/** The same, read and written by one call. */
const largestAtOnce = 100_000
const longestPauseMs = 500
const longestReadMs = 3_000

export interface CrowdedFolderOptions {
  readonly service: ServiceModel
  readonly calls: () => Calls
  readonly pause: (ms: number) => Promise<void>
  /** Documents are also written in place, through handles. */
  readonly writesInPlace: boolean
  readonly note: (line: string) => void
}

export class CrowdedFolder implements Crowd {
  readonly #options: CrowdedFolderOptions
  readonly #contents = new Map<number, Buffer>()
  readonly #orders = new PossibleOrders<CrowdedState>(holding([]), keyOf)
  /** A write failed, or its close: a drive that ends need not have kept it. */
  #isOutcomeUnknown = false
  #isWriting = false
  #lastScratch = 0
  #lastHandle = 0
  #lastDocument = 0

  constructor(options: CrowdedFolderOptions) {
    this.#options = options
  }

  /** A program does something. */
  async act(chance: Chance): Promise<void> {
    const path = pathOf(chance.pick(names))
    const kind = chance.weighted({ ...taste, write: this.#options.writesInPlace ? writes : 0 })
    if (kind === 'save') return this.#save(path, this.#content(chance))
    if (kind === 'rename') return void (await this.#rename(path, pathOf(chance.pick(names))))
    if (kind === 'unlink') return this.#unlink(path)
    if (kind === 'stat') return this.#stat(path)
    if (kind === 'read') return void (await this.#read(path, 0))
    if (kind === 'read slowly') return void (await this.#read(path, chance.random() * longestReadMs))
    const content = this.#content(chance)
    if (kind === 'write') return this.#write(path, content, chance)
    if (await this.#rename(pathOf('a.txt'), pathOf('a.txt~'))) await this.#save(pathOf('a.txt'), content)
  }

  /**
   * The drive has begun again. A power cut takes back what nobody was told to be durable, and a kill what was being written: what
   * shows then is the beginning.
   */
  async goOn(wasCut: boolean): Promise<void> {
    if (!wasCut && !this.#isOutcomeUnknown) return
    this.#isOutcomeUnknown = false
    this.#orders.known(holding(await this.#shown()))
  }

  /** No call is under way, and nothing is unsent. */
  async check(): Promise<void> {
    const shown = new Map<string, number>()
    for (const name of names) {
      const path = pathOf(name)
      const answer = await this.#read(path, 0)
      // Looked at again, a few times.
      if (answer === undefined) throw Object.assign(new Error(`${path} cannot be read`), { code: 'EIO' })
      if (answer !== 'ENOENT') shown.set(path, Number(answer))
    }
    const { documents } = this.#options.service
    for (const name of names) {
      const path = pathOf(name)
      const stored = documents.get(path)?.bytes.length
      const isHere = isLocalOnly(path) && stored === undefined
      if (stored !== shown.get(path) && !isHere)
        throw new Loss(
          `${path}: ${stored ?? 'no'} bytes in the service, ${shown.get(path) ?? 'none'} are shown`,
        )
    }
    for (const path of documents.keys()) {
      if (!path.startsWith(pathOf(''))) continue
      if (!isAmong(path.slice(pathOf('').length)) && !isLocalOnly(path))
        throw new Loss(`${path} is in the service, and nobody has made it`)
    }
    this.#isOutcomeUnknown = false
  }

  async #save(path: string, content: Buffer): Promise<void> {
    const { calls, note } = this.#options
    const scratch = `${crowdedFolder}/.goutputstream-${++this.#lastScratch}`
    note(`save ${path} ${content.length} bytes`)
    try {
      await calls().writeFile(scratch, content)
    } catch (error) {
      if (!isPassing(codeOf(error))) throw error
      return
    }
    await this.#call(
      `save ${path} ${content.length} bytes`,
      placed(path, ++this.#lastDocument, content.length),
      () => this.#moved(scratch, path),
    )
  }

  /** Opened, emptied, written and closed, whatever becomes of its name meanwhile. One at a time: two would write a mixture. */
  async #write(path: string, content: Buffer, chance: Chance): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    const pauses = [0, 1, 2].map(() => (chance.random() < 0.5 ? 0 : chance.random() * longestPauseMs))
    const truncates = chance.random() < 0.5
    const handle = ++this.#lastHandle
    let file: OpenFile | undefined
    try {
      const how = { made: truncates ? ++this.#lastDocument : undefined, truncates }
      const answer = await this.#call(`open ${path} to write`, opened(path, handle, how), async () => {
        file = await this.#options.calls().open(path, truncates ? 'w' : 'r+')
      })
      if (answer === undefined) this.#isOutcomeUnknown = true
      if (file !== undefined) await this.#writeAll(file, handle, { content, pauses, truncates })
    } finally {
      await this.#close(handle, file, true)
      this.#isWriting = false
    }
  }

  async #writeAll(
    file: OpenFile,
    handle: number,
    { content, pauses, truncates }: { content: Buffer; pauses: readonly number[]; truncates: boolean },
  ): Promise<void> {
    const steps: readonly (() => Promise<string | undefined>)[] = [
      async () => (truncates ? 'done' : this.#call('truncate', writtenBy(handle, 0), () => file.truncate(0))),
      () =>
        this.#call(`write ${content.length} bytes`, writtenBy(handle, content.length), () =>
          file.write(content, 0),
        ),
      async () => 'done',
    ]
    for (const [number, step] of steps.entries()) {
      await this.#options.pause(pauses[number] ?? 0)
      if ((await step()) !== undefined) continue
      this.#isOutcomeUnknown = true
      return
    }
  }

  /** A close shows nothing; one that fails after a write leaves open whether the content is kept. */
  async #close(handle: number, file: OpenFile | undefined, wasWritten: boolean): Promise<void> {
    try {
      await file?.close()
    } catch (error) {
      if (wasWritten) this.#isOutcomeUnknown = true
      if (!isPassing(codeOf(error))) throw error
    } finally {
      this.#orders.happens((state) => closed(state, handle))
    }
  }

  /** Answers whether there was something to be renamed. */
  async #rename(path: string, to: string): Promise<boolean> {
    this.#options.note(`rename ${path} → ${to}`)
    const answer = await this.#call(`rename ${path} → ${to}`, renamed(path, to), () => this.#moved(path, to))
    return answer === 'done'
  }

  async #moved(path: string, to: string): Promise<void> {
    await this.#look(path)
    await this.#look(to)
    await this.#options.calls().rename(path, to)
  }

  /** As kernel and WebDAV do before they take a name away: the version that a listing tells without its size is asked for it (1000112). */
  async #look(path: string): Promise<void> {
    const { calls, service } = this.#options
    if (service.habits.tellsSizes) return
    try {
      await calls().stat(path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }

  async #unlink(path: string): Promise<void> {
    this.#options.note(`unlink ${path}`)
    await this.#call(`unlink ${path}`, removed(path), async () => {
      await this.#look(path)
      await this.#options.calls().unlink(path)
    })
  }

  async #stat(path: string): Promise<void> {
    await this.#call(`stat ${path}`, looked(path), async () => (await this.#options.calls().stat(path)).size)
  }

  /** Its length, or ENOENT; undefined where nobody can tell. Read a while after it was opened. */
  async #read(path: string, afterMs: number): Promise<string | undefined> {
    const handle = ++this.#lastHandle
    let file: OpenFile | undefined
    try {
      const answer = await this.#call(
        `open ${path} r`,
        opened(path, handle, { made: undefined, truncates: false }),
        async () => {
          file = await this.#options.calls().open(path, 'r')
        },
      )
      if (file === undefined) return answer
      if (afterMs > 0) await this.#options.pause(afterMs)
      const shown = file
      return await this.#call(`read ${path}`, readBy(handle), async () =>
        this.#known(path, await shown.read(2 * largeBytes, 0)),
      )
    } finally {
      await this.#close(handle, file, false)
    }
  }

  /** Runs a call. Throws a Loss where what it answers cannot be. */
  async #call(
    what: string,
    effect: Effect<CrowdedState>,
    run: () => Promise<number | void> | undefined,
  ): Promise<string | undefined> {
    const call = this.#orders.begin(effect)
    let answer: string | undefined
    let code = ''
    try {
      answer = String((await run()) ?? 'done')
    } catch (error) {
      code = codeOf(error)
      if (error instanceof Loss || (code !== 'ENOENT' && !isPassing(code))) throw error
      answer = code === 'ENOENT' ? code : undefined
    }
    this.#options.note(`${what}: ${answer ?? code}`)
    if (!this.#orders.end(call, answer))
      throw new Loss(`${what} answers ${answer}, and in no order of the calls it can`)
    return answer
  }

  async #shown(): Promise<Map<string, number>> {
    const shown = new Map<string, number>()
    for (const name of await this.#options.calls().readdir(crowdedFolder)) {
      const path = pathOf(name)
      if (!isAmong(name)) continue
      shown.set(path, this.#known(path, await this.#options.calls().readFile(path)))
    }
    return shown
  }

  /** The length of a content that was written here. */
  #known(path: string, bytes: Buffer): number {
    // Made, or emptied, to be written.
    if (bytes.length === 0 && this.#options.writesInPlace) return 0
    if (this.#contents.get(bytes.length)?.equals(bytes) !== true)
      throw new Loss(`${path}: ${bytes.length} bytes that nobody has written`)
    return bytes.length
  }

  #content(chance: Chance): Buffer {
    const number = this.#contents.size + 1
    const large = this.#options.writesInPlace ? largestAtOnce : largeBytes
    const content = chance.bytes(chance.random() < 0.2 ? large + number : number)
    this.#contents.set(content.length, content)
    return content
  }
}

function pathOf(name: string): string {
  return `${crowdedFolder}/${name}`
}

function isAmong(name: string): boolean {
  return names.some((each) => each === name)
}
