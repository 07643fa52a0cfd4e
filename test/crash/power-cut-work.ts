// One program at work before a power cut, and what may be true of its documents afterwards. Every version of a document has
// content of its own, so that what is found tells which version it is.

import type { Calls } from '../support/door.ts'
import type { Chance } from '../model/chance.ts'

/** Where a document is, with what content; undefined: nowhere. */
interface State {
  readonly path: string
  readonly content: Buffer
}

/** One document through all its versions and names. */
class Timeline {
  readonly states: (State | undefined)[] = []
  /** The last state that a power cut must not take back. */
  durable = -1

  get now(): State | undefined {
    return this.states.at(-1)
  }

  /** States that may be true after a cut: the last one that was promised, or any later one. */
  get possible(): readonly (State | undefined)[] {
    return this.durable === -1 ? [undefined, ...this.states] : this.states.slice(this.durable)
  }
}

/** Names that may stay on the machine. */
export const isLocal = (path: string): boolean => /~$|\/\.goutputstream-[^/]*$/.test(path)

export class Work {
  readonly folder: string
  readonly #chance: Chance
  readonly #timelines: Timeline[] = []
  #names = 0
  /** Calls that were answered. */
  operations = 0
  /** All that was done, in words. */
  readonly #history: string[] = []

  constructor(folder: string, chance: Chance) {
    this.folder = folder
    this.#chance = chance
  }

  /** One thing a person does. Throws what the drive answers. */
  async act(calls: Calls): Promise<void> {
    const { pick, weighted } = this.#chance
    const present = this.#timelines.filter(({ now }) => now !== undefined && !isLocal(now.path))
    const kind = present.length < 3 ? 'make' : weighted({
      make: 20, save: 30, gio: 12, vim: 12, rename: 14, renameOver: 8, unlink: 8, unlinkAndSync: 8,
    }) // prettier-ignore
    const document = kind === 'make' ? new Timeline() : pick(present)
    const path = document.now?.path ?? this.#fresh()
    const content = this.#content()
    switch (kind) {
      case 'make':
        this.#timelines.push(document)
        return this.#promised([[document, { path, content }]], () => calls.writeFile(path, content))
      case 'save':
        return this.#promised([[document, { path, content }]], () => calls.writeFile(path, content))
      case 'gio': {
        const temporary = `${this.folder}/.goutputstream-${++this.#names}`
        await calls.writeFile(temporary, content)
        return this.#promised([[document, { path, content }]], () => calls.rename(temporary, path))
      }
      case 'vim': {
        const backup = { path: `${path}~`, content: document.now?.content ?? content }
        await this.#done([[document, backup]], () => calls.rename(path, backup.path))
        const successor = new Timeline()
        this.#timelines.push(successor)
        await this.#promised([[document, backup], [successor, { path, content }]], () => calls.writeFile(path, content)) // prettier-ignore
        return this.#done([[document, undefined]], () => calls.unlink(backup.path))
      }
      case 'rename': {
        const moved = { path: this.#fresh(), content: document.now?.content ?? content }
        return this.#promised([[document, moved]], () => calls.rename(path, moved.path))
      }
      case 'renameOver': {
        const target = pick(present)
        if (target === document || target.now === undefined || document.now === undefined) return
        const to = target.now.path
        const moved = { path: to, content: document.now.content }
        return this.#promised([[document, moved], [target, undefined]], () => calls.rename(path, to)) // prettier-ignore
      }
      case 'unlink':
        return this.#done([[document, undefined]], () => calls.unlink(path))
      case 'unlinkAndSync':
        return this.#promised([[document, undefined]], async () => {
          await calls.unlink(path)
          await calls.syncFolder(this.folder)
        })
    }
  }

  /** A call that promises nothing of a power cut: it may be undone. */
  async #done(changes: [Timeline, State | undefined][], call: () => Promise<void>): Promise<void> {
    const what = changes
      .map(([timeline, state]) => `${nameOf(timeline.now)} → ${nameOf(state)}`)
      .join(' and ')
    for (const [timeline, state] of changes) timeline.states.push(state)
    this.#history.push(`${new Date().toISOString()} begun: ${what}`)
    await call()
    this.#history.push(`${new Date().toISOString()} answered: ${what}`)
    this.operations++
  }

  async #promised(changes: [Timeline, State | undefined][], call: () => Promise<void>): Promise<void> {
    await this.#done(changes, call)
    for (const [timeline] of changes) timeline.durable = timeline.states.length - 1
  }

  /** Faults of the folder as a drive shows it, in words; empty where there are none. */
  problems(shown: ReadonlyMap<string, Buffer | undefined>): string[] {
    const problems: string[] = []
    const left = new Map([...shown].filter(([path]) => path.startsWith(`${this.folder}/`)))
    for (const { possible } of this.#timelines) {
      const found = possible.findLast(
        (state) => state !== undefined && left.get(state.path)?.equals(state.content),
      )
      if (found !== undefined) left.delete(found.path)
      else if (!possible.includes(undefined))
        problems.push(
          `lost: ${possible.map(nameOf).join(' or ')}\n${this.#story(possible.map((state) => state?.path))}`,
        )
    }
    for (const [path, content] of left) {
      if (isLocal(path)) continue
      const what = nameOf({ path, content: content ?? Buffer.alloc(0) })
      problems.push(`doubled, torn or back again: ${what}\n${this.#story([path])}`)
    }
    return problems
  }

  /** History of these paths. */
  #story(paths: readonly (string | undefined)[]): string {
    return this.#history
      .filter((line) => paths.some((path) => path !== undefined && line.includes(path)))
      .join('\n')
  }

  #fresh(): string {
    return `${this.folder}/f${++this.#names}.${this.#chance.pick(['txt', 'csv', 'pdf'])}`
  }

  #content(): Buffer {
    const { below, bytes, weighted } = this.#chance
    const size = { small: 4_000, medium: 60_000, large: 600_000 }[
      weighted({ small: 60, medium: 30, large: 10 })
    ]
    return Buffer.concat([Buffer.from(`${this.folder} ${++this.#names}:`), bytes(below(size))])
  }
}

function nameOf(state: State | undefined): string {
  if (state === undefined) return 'nowhere'
  return `${state.path} ${state.content.length} bytes "${state.content.subarray(0, 12).toString('latin1')}"`
}
