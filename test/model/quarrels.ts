// Documents that we and another client write at the same time: what must be found in the end.

import { waitUntil } from '../support/wait-until.ts'
import type { Calls } from '../support/door.ts'
import type { OtherClient } from '../support/other-client.ts'
import type { Chance } from './chance.ts'
import type { Troublemaker } from './trouble.ts'
import { Loss } from './loss.ts'

const kinds = ['replaced', 'replaced twice', 'taken', 'deleted', 'replaced before our rename'] as const

interface Outcome {
  readonly kind: (typeof kinds)[number]
  readonly path: string
  /** Must be at the path; undefined where our own save did not come to its end. */
  readonly ours: string | undefined
  /** Must be at the path or in a conflict copy beside it. */
  readonly theirs: string | undefined
}

export class Quarrels {
  readonly folder: string
  readonly #other: OtherClient
  readonly #trouble: Troublemaker
  readonly #chance: Chance
  readonly #outcomes: Outcome[] = []
  #count = 0

  constructor(options: { folder: string; other: OtherClient; trouble: Troublemaker; chance: Chance }) {
    this.folder = options.folder
    this.#other = options.other
    this.#trouble = options.trouble
    this.#chance = options.chance
  }

  get count(): number {
    return this.#outcomes.length
  }

  /** Picks one and has it out. A quarrel that the drive's death cuts off may end either way. */
  async have(calls: Calls): Promise<void> {
    const kind = this.#chance.pick(kinds)
    const path = `${this.folder}/q${++this.#count}.txt`
    let theirs: string | undefined
    const put = async (content: string): Promise<void> => {
      theirs = undefined
      await this.#trouble.without(() => this.#other.put(path, content))
      theirs = content
    }
    let ours: string | undefined
    const fill = 'x'.repeat(this.#chance.below(50))
    try {
      if (kind !== 'taken') {
        await put(`${path} as both know it`)
        theirs = undefined
        await waitUntil(`${path} to be seen here`, () => calls.readFile(path).then(() => true, isNotThere))
      }
      if (kind === 'replaced before our rename') {
        await put(`${path} theirs, unseen ${fill}`)
        await calls.rename(path, `${path.slice(0, -4)}-moved.txt`)
      } else {
        const file = await calls.open(path, kind === 'taken' ? 'w' : 'r+')
        await file.truncate(0)
        await file.write(`${path} ours ${fill}`, 0)
        if (kind === 'deleted') await this.#trouble.without(() => this.#other.delete(path))
        else await put(`${path} theirs 1 ${fill}`)
        if (kind === 'replaced twice') await put(`${path} theirs 2 ${fill}`)
        await file.close()
        ours = `${path} ours ${fill}`
      }
    } catch {
      // Cut off: nobody was told that it is saved.
    }
    this.#outcomes.push({ kind, path, ours, theirs })
  }

  /** Throws a Loss unless every version written last is in the service. */
  check(held: ReadonlyMap<string, Buffer | undefined>): void {
    for (const { kind, path, ours, theirs } of this.#outcomes) {
      const at = held.get(path)?.toString()
      const stem = path.slice(0, -4)
      const beside = [...held].filter(
        ([other]) => other.startsWith(`${stem} (conflict `) || other === `${stem}-moved.txt`,
      )
      const found = `it holds ${JSON.stringify(at)}, beside it ${JSON.stringify(beside.map(([name, content]) => [name, content?.toString()]))}`
      if (ours !== undefined && at !== ours)
        throw new Loss(`${path} (${kind}): should hold ${JSON.stringify(ours)}; ${found}`)
      if (
        theirs === undefined ||
        at === theirs ||
        beside.some(([, content]) => content?.toString() === theirs)
      )
        continue
      throw new Loss(`${path} (${kind}): ${JSON.stringify(theirs)} is nowhere; ${found}`)
    }
  }
}

function isNotThere(error: NodeJS.ErrnoException): false {
  if (['ENOENT', 'EIO', 'ETIMEDOUT', 'ESTALE'].includes(error.code ?? '')) return false
  throw error
}
