// Looks of the drive at each folder, with their answers: the removal of a folder may take along what was stored after
// the last look, and nothing else (docs/reliability.md, "The race that is left").

import type { ServiceModel } from './service-model.ts'

/** A retry looks again; who looks beside it looks now and then. */
const keptLooks = 50

interface Look {
  readonly at: number
  /** The time of which the answer is true: earlier than the look where the service's listings lag. */
  readonly asOf: number
  readonly names: ReadonlySet<string>
  readonly isFolder: boolean
}

export class SharedLooks {
  readonly #looks = new Map<string, Look[]>()

  constructor(service: ServiceModel, now: () => number) {
    service.onLooked = (path, names, asOf) => {
      const looks = this.#looks.get(path) ?? []
      looks.push({ at: now(), asOf, names: new Set(names), isFolder: names !== undefined })
      this.#looks.set(path, looks.slice(-keptLooks))
    }
  }

  /** True if a folder was seen there before a DELETE was sent, and the document came after that look: in its place. */
  sawFolder({ path, storedAt }: { path: string; storedAt: number }, sentAt: number): boolean {
    const look = this.#looks.get(path)?.findLast((each) => each.at <= sentAt)
    return look?.isFolder === true && storedAt >= look.at
  }

  /**
   * True if the looks before a DELETE of the folder was sent showed the document, or would have, had all of the
   * folder been looked at.
   */
  showed({ path, storedAt }: { path: string; storedAt: number }, folder: string, sentAt: number): boolean {
    let above: Look | undefined
    for (let at = folder; ;) {
      const look = this.#looks.get(at)?.findLast((each) => each.at <= sentAt)
      // The folder was not looked into: what was in it when it was shown would have been seen.
      if (look === undefined || (above !== undefined && look.at < above.at))
        return above === undefined || storedAt <= above.asOf
      const name = path.slice(at.length + 1).split('/', 1)[0] as string
      if (!look.names.has(name)) return false
      at = `${at}/${name}`
      if (at === path) return storedAt <= look.asOf
      above = look
    }
  }
}
