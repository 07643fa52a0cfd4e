// One step of a program at work through both doors: it knows what it was answered, and so what may be there (history.ts). Throws a
// Loss where something else is.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { Ran } from '../support/run.ts'
import type { Chance } from './chance.ts'
import * as programs from './door-programs.ts'
import type { Change, History } from './history.ts'
import { Loss } from './loss.ts'

export interface DoorWorkOptions {
  /** For what is saved, outside of the drive. */
  readonly folder: string
  readonly history: History
  readonly doors: () => programs.BothDoors
  /** True if all was well since some time before then: no program may fail. */
  readonly isPeace: (from: number) => boolean
  /** The daemon was killed then or later. */
  readonly wasKilledSince: (from: number) => boolean
  readonly tell: (line: string) => void
}

export const folders: readonly string[] = ['/desk', '/desk/in ner']
/** Two names of one folder: it has the one or the other. */
export const pairs: readonly [string, string] = ['/here', '/there']
const pairNames = ['one.txt', 'two.csv', 'three.txt']
const sharedPaths = folders.flatMap((folder) =>
  ['a.txt', 'b.txt', 'c.csv', 'ü d.txt'].map((name) => `${folder}/shared ${name}`),
)

export class DoorWork {
  readonly #options: DoorWorkOptions
  readonly #history: History
  readonly #programs: Record<string, { runs: number; failed: number }> = {}
  #lastMark = 0

  constructor(options: DoorWorkOptions) {
    this.#options = options
    this.#history = options.history
  }

  /** How often each program was run, and how often it failed. */
  get programs(): Readonly<Record<string, { runs: number; failed: number }>> {
    return this.#programs
  }

  get #doors(): programs.BothDoors {
    return this.#options.doors()
  }

  /** Names of its own, beside those of others: it knows at all times what is there. */
  async alone(index: number, luck: Chance): Promise<void> {
    const paths = folders.flatMap((folder) =>
      ['a.txt', 'b.csv'].map((name) => `${folder}/own ${index} ${name}`),
    )
    const [path, other] = [luck.pick(paths), luck.pick(paths)]
    const now = this.#history.certain(path)
    const isThere = now !== 'in doubt' && now.value !== undefined
    const kind = luck.weighted({ save: 40, edit: 20, move: 10, copy: 6, remove: 6, read: 25, list: 8 })
    if (kind === 'list') return this.#list(luck, index, dirname(path))
    if (kind === 'read') return this.#read(luck, path, true)
    if (kind === 'save' || !isThere || path === other) return this.#save(luck, path, true)
    if (kind === 'edit') return this.#edit(luck, path, this.#history.contentOf(now.value))
    if (kind === 'remove') return this.#remove(luck, path, true)
    return this.#fromTo(luck.pick(kind === 'move' ? programs.movers : programs.copiers), path, other, {
      isMove: kind === 'move',
      isAlone: true,
    })
  }

  /** Names that all save, move, copy and remove. */
  async shared(luck: Chance): Promise<void> {
    const [path, other] = [luck.pick(sharedPaths), luck.pick(sharedPaths)]
    const kind = luck.weighted({ save: 50, move: 20, copy: 6, remove: 6, read: 20 })
    if (kind === 'read') return this.#read(luck, path, false)
    if (kind === 'remove') return this.#remove(luck, path, false)
    if (kind === 'save' || path === other) return this.#save(luck, path, false)
    return this.#fromTo(luck.pick(kind === 'move' ? programs.movers : programs.copiers), path, other, {
      isMove: kind === 'move',
      isAlone: false,
    })
  }

  /** A folder that has the one or the other name, and what is in it. */
  async folders(luck: Chance): Promise<void> {
    const path = `${luck.pick(pairs)}/${luck.pick(pairNames)}`
    const kind = luck.weighted({ save: 50, move: 20, read: 20 })
    if (kind === 'read') return this.#read(luck, path, false)
    if (kind === 'save') return this.#save(luck, path, false)
    const [from, to] = luck.random() < 0.5 ? pairs : [pairs[1], pairs[0]]
    const mover = luck.pick(programs.folderMovers)
    const changes = pairNames.flatMap((name) => [
      this.#change(mover.name, `${to}/${name}`, { from: `${from}/${name}`, orNothing: true }, false),
      this.#change(mover.name, `${from}/${name}`, { value: undefined }, false),
    ])
    const line = mover.line(this.#doors, from, to)
    await this.#perform(mover.name, line, changes, false)
  }

  #change(program: string, path: string, becomes: Change['becomes'], isInPlace: boolean): Change {
    return this.#history.begin({ program, path, becomes, isInPlace })
  }

  async #save(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const mark = ++this.#lastMark
    const isOfPair = pairs.some((folder) => path.startsWith(`${folder}/`))
    const saver = luck.pick(
      programs.savers.filter(
        ({ makesFolders = false, isForOne = false }) => !(isOfPair && makesFolders) && (isAlone || !isForOne),
      ),
    )
    const file = join(this.#options.folder, String(mark), path.slice(path.lastIndexOf('/') + 1))
    const content = this.#content(luck, mark)
    await mkdir(dirname(file))
    await writeFile(file, content)
    const id = this.#history.addContent(`${mark}-${saver.name}`, content)
    const change = this.#change(saver.name, path, { value: id }, saver.isInPlace)
    const line = saver.line(this.#doors, path, file, mark)
    await this.#perform(saver.name, line, [change], isAlone)
    await rm(dirname(file), { recursive: true })
  }

  async #edit(luck: Chance, path: string, before: Buffer): Promise<void> {
    const mark = ++this.#lastMark
    const editor = luck.pick(programs.editors)
    const words = `${mark} by ${editor.name} `.replaceAll(/[^\w ]/g, '').padEnd(63, '-')
    const id = this.#history.addContent(`${mark}-${editor.name}`, editor.edited(before, words))
    const change = this.#change(editor.name, path, { value: id }, true)
    await this.#perform(editor.name, editor.line(this.#doors, path, words), [change], true)
  }

  async #remove(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const remover = luck.pick(programs.removers)
    const change = this.#change(remover.name, path, { value: undefined }, false)
    await this.#perform(remover.name, remover.line(this.#doors, path), [change], isAlone)
  }

  async #fromTo(
    program: programs.TwoNames,
    from: string,
    to: string,
    { isMove, isAlone }: { isMove: boolean; isAlone: boolean },
  ): Promise<void> {
    const changes = [this.#change(program.name, to, { from, orNothing: false }, program.isInPlace)]
    if (isMove) changes.push(this.#change(program.name, from, { value: undefined }, false))
    await this.#perform(program.name, program.line(this.#doors, from, to), changes, isAlone)
  }

  /** Runs a program that changes something. Alone and in peace it must not fail. */
  async #perform(
    name: string,
    line: Parameters<typeof programs.performed>[0],
    changes: readonly Change[],
    isAlone: boolean,
  ): Promise<void> {
    const from = performance.now()
    const ran = await programs.performed(line)
    const { outcome, said } = programs.outcomeOf(line, ran, name.startsWith('curl'))
    for (const change of changes) this.#history.end(change, outcome)
    const how = outcome === 'done' ? 'done' : `${outcome}: ${said}`
    this.#options.tell(`${name} ${changes.map(({ path }) => path).join(' ')}: ${how}`)
    this.#count(name, outcome === 'done')
    if (outcome !== 'done' && isAlone && this.#options.isPeace(from))
      throw new Loss(`${changes[0]?.path}: ${name} failed in peace: ${said}`)
  }

  async #read(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const from = performance.now()
    const reader = luck.pick(programs.readers)
    const ran = await programs.performed(reader.line(this.#doors, path))
    const to = performance.now()
    const isMissing = ran.code !== 0 && reader.isMissing(ran)
    if (reader.mayMiss === true && (ran.code !== 0 || ran.stdout === ''))
      return this.#count(reader.name, false)
    this.#count(reader.name, ran.code === 0 || isMissing)
    if (ran.code === 0 || isMissing) {
      const wrong = this.#history.wrong(path, isMissing ? undefined : Buffer.from(ran.stdout), from, to)
      // A dead mount is an empty folder, or none.
      if (wrong !== undefined && !(isMissing && this.#options.wasKilledSince(from)))
        throw new Loss(`${reader.name}: ${wrong}`)
    } else if (isAlone && this.#options.isPeace(from))
      throw new Loss(`${path}: ${reader.name} failed in peace: exit code ${ran.code}: ${ran.stderr}`)
  }

  /** Names of its own are in the listing of either door, or are not. */
  async #list(luck: Chance, index: number, folder: string): Promise<void> {
    const from = performance.now()
    const isByMount = luck.random() < 0.5
    const { curlConfig, url } = this.#doors
    const ran: Ran = await programs.performed({
      argv: isByMount
        ? ['ls', programs.at(this.#doors, folder)]
        : [
            'curl',
            '-sS',
            '-f',
            '-K',
            curlConfig,
            '-X',
            'PROPFIND',
            '-H',
            'Depth: 1',
            url + encodeURI(folder),
          ],
    })
    const name = isByMount ? 'ls' : 'curl, PROPFIND'
    this.#count(name, ran.code === 0)
    if (ran.code !== 0) {
      if (this.#options.isPeace(from)) throw new Loss(`${folder}: ${name} failed in peace: ${ran.stderr}`)
      return
    }
    if (this.#options.wasKilledSince(from)) return
    for (const path of this.#history.paths) {
      if (!path.startsWith(`${folder}/own ${index} `)) continue
      const certain = this.#history.certain(path)
      if (certain === 'in doubt') continue
      const isListed = isByMount
        ? ran.stdout.split('\n').includes(path.slice(folder.length + 1))
        : ran.stdout.includes(`${encodeURI(path)}<`)
      if (isListed !== (certain.value !== undefined))
        throw new Loss(`${path}: ${name} ${isListed ? 'lists' : 'does not list'} it: ${ran.stdout}`)
    }
  }

  /** Lines of 64 bytes, each known by its document and place. */
  #content(luck: Chance, mark: number): Buffer {
    const lines = luck.weighted({ few: 60, some: 30, many: 9, huge: 1 })
    const count = 1 + luck.below({ few: 8, some: 300, many: 3000, huge: 20_000 }[lines])
    return Buffer.from(
      Array.from({ length: count }, (_, at) => `${`${mark} line ${at} `.padEnd(63, '.')}\n`).join(''),
    )
  }

  #count(name: string, isDone: boolean): void {
    const { runs, failed } = this.#programs[name] ?? { runs: 0, failed: 0 }
    this.#programs[name] = { runs: runs + 1, failed: failed + (isDone ? 0 : 1) }
  }
}
