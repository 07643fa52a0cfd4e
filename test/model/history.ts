// Changes that programs make at the same time, by name, and so what may be under each. A program's change takes effect
// at some moment between its start and its end; one that was cut off, or failed, may have.

/** The id of a content, or undefined for a name that is not there. */
export type Value = string | undefined

export interface Change {
  readonly program: string
  readonly path: string
  readonly start: number
  /** Infinity while the program runs. */
  end: number
  /** The program was told that it is done. */
  isSure: boolean
  /** Afterwards there is this content, or what another name had while the change was made. */
  readonly becomes: { readonly value: Value } | { readonly from: string; readonly orNothing: boolean }
  /** Others may see it in part, and two at once may leave a mixture. */
  readonly isInPlace: boolean
}

/** A value that a name may have had from the start of a change on. */
interface Occurrence {
  readonly value: Value
  readonly start: number
  readonly end: number
  readonly isSure: boolean
  readonly isInPlace: boolean
  /** It may have come in part, and stayed so. */
  readonly mayBeTorn: boolean
}

const nothingYet: Occurrence = {
  value: undefined,
  start: -Infinity,
  end: -Infinity,
  isSure: true,
  isInPlace: false,
  mayBeTorn: false,
}

/** Moves that are being asked for their source; `isCut` where one of them was come to again. */
interface Asking {
  readonly changes: ReadonlySet<Change>
  isCut: boolean
}

const pieceBytes = 64

export class History {
  readonly #now: () => number
  readonly #contents = new Map<string, Buffer>()
  readonly #changes = new Map<string, Change[]>()
  /** Of moves and copies that are over. */
  readonly #derived = new Map<Change, readonly Occurrence[]>()

  constructor(now: () => number) {
    this.#now = now
  }

  get paths(): readonly string[] {
    return [...this.#changes.keys()]
  }

  addContent(id: string, bytes: Buffer): string {
    this.#contents.set(id, bytes)
    return id
  }

  contentOf(id: string): Buffer {
    const bytes = this.#contents.get(id)
    if (bytes === undefined) throw new Error(`no content ${id}`)
    return bytes
  }

  /** A change that begins now. */
  begin(change: Omit<Change, 'start' | 'end' | 'isSure'>): Change {
    const begun: Change = { ...change, start: this.#now(), end: Infinity, isSure: false }
    this.#changes.set(change.path, [...(this.#changes.get(change.path) ?? []), begun])
    return begun
  }

  end(change: Change, outcome: 'done' | 'in doubt' | 'nothing'): void {
    change.end = this.#now()
    change.isSure = outcome === 'done'
    if (outcome !== 'nothing') return
    const changes = this.#changes.get(change.path) ?? []
    this.#changes.set(
      change.path,
      changes.filter((other) => other !== change),
    )
  }

  /** The only value that a name may have now; `in doubt` where there are several. */
  certain(path: string): { readonly value: Value } | 'in doubt' {
    const now = this.#now()
    const occurrences = this.#possible(path, now, now)
    const values = new Set(occurrences.map(({ value }) => value))
    if (values.size !== 1 || isTearable(occurrences, now)) return 'in doubt'
    return { value: [...values][0] }
  }

  /** Undefined where these bytes, or their absence, may have been seen at some moment of this time; otherwise what may have been. */
  wrong(path: string, bytes: Buffer | undefined, from: number, to = from): string | undefined {
    const occurrences = this.#possible(path, from, to)
    const contents = occurrences.flatMap(({ value }) => (value === undefined ? [] : [this.contentOf(value)]))
    if (bytes === undefined) {
      if (occurrences.some(({ value, mayBeTorn }) => value === undefined || mayBeTorn)) return undefined
    } else {
      if (contents.some((content) => content.equals(bytes))) return undefined
      if (isTearable(occurrences, from) && isMixture(bytes, contents)) return undefined
    }
    const may = [...new Set(occurrences.map(({ value }) => value ?? 'not there'))]
    return `${path} is ${this.describe(bytes)}; it may be: ${may.join(', ')}`
  }

  /** The id of a content, or what there is of it. */
  describe(bytes: Buffer | undefined): string {
    if (bytes === undefined) return 'not there'
    const known = [...this.#contents].find(([, content]) => content.equals(bytes))
    return known?.[0] ?? `${bytes.length} bytes: ${JSON.stringify(bytes.toString('latin1', 0, 100))}`
  }

  /** Everything was looked at, and nothing is under way: these are the values. */
  settle(seen: ReadonlyMap<string, Buffer>): void {
    const kept = new Map<string, Buffer>()
    for (const path of this.#changes.keys()) {
      const bytes = seen.get(path)
      let value: Value
      if (bytes !== undefined) {
        const known = [...this.#contents].find(([, content]) => content.equals(bytes))
        value = known?.[0] ?? `seen-${path}-${Math.round(this.#now())}`
        kept.set(value, bytes)
      }
      const now = this.#now()
      this.#changes.set(path, [
        {
          program: 'settled',
          path,
          start: now,
          end: now,
          isSure: true,
          becomes: { value },
          isInPlace: false,
        },
      ])
    }
    this.#derived.clear()
    this.#contents.clear()
    for (const [id, bytes] of kept) this.#contents.set(id, bytes)
  }

  /** All that was done to a name, a line each, oldest first. */
  tell(path: string): readonly { readonly at: number; readonly line: string }[] {
    return (this.#changes.get(path) ?? []).map(({ program, start, end, isSure, becomes }) => {
      const what = 'value' in becomes ? (becomes.value ?? 'removed') : `from ${becomes.from}`
      const took =
        end === Infinity ? 'under way' : `${Math.round(end - start)} ms${isSure ? '' : ', in doubt'}`
      return { at: start, line: `${program} ${path}: ${what} (${took})` }
    })
  }

  /** All but what a later change, which was done before `from`, took away for sure. */
  #possible(
    path: string,
    from: number,
    to: number,
    asking: Asking = { changes: new Set(), isCut: false },
  ): Occurrence[] {
    const changes = this.#changes.get(path) ?? []
    const lastSure = changes.reduce(
      (last, { isSure, start, end }) => (isSure && end < from ? Math.max(last, start) : last),
      -Infinity,
    )
    const began = lastSure === -Infinity ? [nothingYet] : []
    return changes
      .filter(({ start, end, becomes }) => start <= to && ('from' in becomes || end >= lastSure))
      .flatMap((change) => this.#occurrences(change, asking))
      .filter(({ end }) => end >= lastSure)
      .concat(began)
  }

  #occurrences(change: Change, asking: Asking): readonly Occurrence[] {
    const { start, end, isSure, isInPlace, becomes } = change
    if ('value' in becomes)
      return [{ value: becomes.value, start, end, isSure, isInPlace, mayBeTorn: isInPlace && !isSure }]
    const known = this.#derived.get(change)
    if (known !== undefined) return known
    if (asking.changes.has(change)) {
      asking.isCut = true
      return []
    }
    const inner: Asking = { changes: new Set([...asking.changes, change]), isCut: false }
    const occurrences = this.#possible(becomes.from, start, end, inner)
      .filter(({ value }) => value !== undefined || becomes.orNothing)
      .map((source) => ({
        value: source.value,
        start,
        // A file that is open for writing while its name changes is written under its new name.
        end: isInPlace ? end : Math.max(end, source.end),
        isSure,
        isInPlace: isInPlace || source.isInPlace,
        mayBeTorn: (isInPlace && !isSure) || source.mayBeTorn || (source.isInPlace && source.end >= start),
      }))
    asking.isCut ||= inner.isCut
    const isOver = end !== Infinity && occurrences.every((occurrence) => occurrence.end !== Infinity)
    if (isOver && !inner.isCut) this.#derived.set(change, occurrences)
    return occurrences
  }
}

/** A part of one, or some of several, may be seen from this time on. */
function isTearable(occurrences: readonly Occurrence[], from: number): boolean {
  const inPlace = occurrences.filter(({ isInPlace }) => isInPlace)
  return inPlace.length > 1 || inPlace.some(({ mayBeTorn, end }) => mayBeTorn || end >= from)
}

/** Each piece is, at its place, that of one of the contents, or a hole: one was cut by another before it was written on. */
function isMixture(bytes: Buffer, contents: readonly Buffer[]): boolean {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    const isOfOne = contents.some((content) => content.subarray(at, at + piece.length).equals(piece))
    if (!isOfOne && piece.some((byte) => byte !== 0)) return false
  }
  return true
}
