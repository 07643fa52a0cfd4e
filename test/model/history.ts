// Changes that programs make at the same time, by name, and so what may be under each. A program's change takes effect
// at some moment between its start and its end; one that was cut off, or failed, may have. For each name the values that it may
// have are carried forward, from each beginning or end of a change to the next: no order of the changes is ever tried out.

/** The id of a content, or undefined for a name that is not there. */
export type Value = string | undefined

export interface Change {
  readonly number: number
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

type Changes = ReadonlySet<Change>

interface Possible {
  readonly value: Value
  /** Changes under way that it came by: each takes effect once. */
  readonly through: Changes
  /** Those of them that go on writing it, whatever its name becomes. */
  readonly writers: Changes
  readonly isInPlace: boolean
  /** It may have come in part, and stayed so. */
  readonly isTorn: boolean
}

/** A value that a name may have from one moment to another. */
interface Stay extends Possible {
  since: number
  /** Infinity while it may be there. */
  until: number
  /** The latest moment at which it may have come. */
  arrived: number
}

const none: Changes = new Set()
const nothingYet: Possible = {
  value: undefined,
  through: none,
  writers: none,
  isInPlace: false,
  isTorn: false,
}

const pieceBytes = 64

export class History {
  readonly #now: () => number
  readonly #contents = new Map<string, Buffer>()
  readonly #names = new Map<string, Name>()
  readonly #underWay = new Set<Change>()
  #lastNumber = 0

  constructor(now: () => number) {
    this.#now = now
  }

  get paths(): readonly string[] {
    return [...this.#names.keys()]
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
  begin(change: Omit<Change, 'number' | 'start' | 'end' | 'isSure'>): Change {
    const begun: Change = {
      ...change,
      number: ++this.#lastNumber,
      start: this.#now(),
      end: Infinity,
      isSure: false,
    }
    this.#name(begun.path).changes.add(begun)
    this.#underWay.add(begun)
    this.#spread()
    return begun
  }

  end(change: Change, outcome: 'done' | 'in doubt' | 'nothing'): void {
    this.#spread()
    this.#underWay.delete(change)
    change.end = this.#now()
    change.isSure = outcome === 'done'
    if (outcome === 'nothing') this.#name(change.path).changes.delete(change)
    for (const name of this.#names.values())
      if (outcome === 'nothing') name.withdraw(change)
      else name.conclude(change)
  }

  /** The only value that a name may have now; `in doubt` where there are several. */
  certain(path: string): { readonly value: Value } | 'in doubt' {
    const stays = this.#names.get(path)?.here ?? [nothingYet]
    const values = new Set(stays.map(({ value }) => value))
    if (values.size !== 1 || isTearable(stays)) return 'in doubt'
    return { value: [...values][0] }
  }

  /** Undefined where these bytes, or their absence, may have been seen at some moment of this time; otherwise what may have been. */
  wrong(path: string, bytes: Buffer | undefined, from: number, to = from): string | undefined {
    const stays = [
      ...this.#stays(path, from, to),
      ...(bytes === undefined ? [] : this.#movedAway(path, from, to)),
    ]
    const contents = stays.flatMap(({ value }) => (value === undefined ? [] : [this.contentOf(value)]))
    if (bytes === undefined) {
      if (stays.some((stay) => stay.value === undefined || mayBePart(stay))) return undefined
    } else {
      if (contents.some((content) => content.equals(bytes))) return undefined
      if (isTearable(stays) && isMixture(bytes, contents)) return undefined
    }
    const may = [...new Set(stays.map(({ value }) => value ?? 'not there'))]
    return `${path} is ${this.describe(bytes)}; it may be: ${may.join(', ')}`
  }

  /** The id of a content, or what there is of it. */
  describe(bytes: Buffer | undefined): string {
    if (bytes === undefined) return 'not there'
    return this.#idOf(bytes) ?? `${bytes.length} bytes: ${JSON.stringify(bytes.toString('latin1', 0, 100))}`
  }

  /** Everything was looked at, and nothing is under way: these are the values. */
  settle(seen: ReadonlyMap<string, Buffer>): void {
    const paths = this.paths
    const kept = new Map<string, Buffer>()
    this.#names.clear()
    for (const path of paths) {
      const bytes = seen.get(path)
      const value =
        bytes === undefined ? undefined : (this.#idOf(bytes) ?? `seen-${path}-${Math.round(this.#now())}`)
      if (bytes !== undefined && value !== undefined) kept.set(value, bytes)
      this.end(this.begin({ program: 'settled', path, becomes: { value }, isInPlace: false }), 'done')
    }
    this.#contents.clear()
    for (const [id, bytes] of kept) this.#contents.set(id, bytes)
  }

  /** All that was done to a name, a line each, oldest first. */
  tell(path: string): readonly { readonly at: number; readonly line: string }[] {
    const changes = this.#names.get(path)?.changes ?? none
    return [...changes].map(({ program, start, end, isSure, becomes }) => {
      const what = 'value' in becomes ? (becomes.value ?? 'removed') : `from ${becomes.from}`
      const took =
        end === Infinity ? 'under way' : `${Math.round(end - start)} ms${isSure ? '' : ', in doubt'}`
      return { at: start, line: `${program} ${path}: ${what} (${took})` }
    })
  }

  #idOf(bytes: Buffer): string | undefined {
    return [...this.#contents].find(([, content]) => content.equals(bytes))?.[0]
  }

  #name(path: string): Name {
    let name = this.#names.get(path)
    if (name === undefined) this.#names.set(path, (name = new Name()))
    return name
  }

  #stays(path: string, from: number, to: number): readonly Stay[] {
    return (this.#names.get(path) ?? new Name()).between(from, to)
  }

  /** A program that has a file open reads on what is written into it after it has got another name. */
  #movedAway(
    path: string,
    from: number,
    to: number,
    seen: ReadonlySet<string> = new Set([path]),
  ): readonly Stay[] {
    return [...this.#names].flatMap(([other, name]) => {
      if (seen.has(other)) return []
      const moves = [...name.changes].filter(
        ({ becomes, isInPlace, start, end }) =>
          'from' in becomes && becomes.from === path && !isInPlace && start <= to && end >= from,
      )
      if (moves.length === 0) return []
      const since = Math.max(from, Math.min(...moves.map(({ start }) => start)))
      const written = name.between(since, to).filter(({ isInPlace }) => isInPlace)
      return [...written, ...this.#movedAway(other, since, to, new Set([...seen, other]))]
    })
  }

  /** Everything that changes under way may have brought by now, one after another, is there. */
  #spread(): void {
    const now = this.#now()
    for (const name of this.#names.values()) name.goOn(now)
    let hasMore = true
    while (hasMore) {
      hasMore = false
      for (const change of this.#underWay)
        for (const possible of this.#broughtBy(change))
          if (this.#name(change.path).come(possible, now)) hasMore = true
    }
  }

  #broughtBy(change: Change): readonly Possible[] {
    const { becomes, isInPlace } = change
    const own: Changes = new Set([change])
    const writers = isInPlace ? own : none
    if ('value' in becomes) return [{ value: becomes.value, through: own, writers, isInPlace, isTorn: false }]
    return this.#name(becomes.from)
      .here.filter(({ value, through }) => !through.has(change) && (value !== undefined || becomes.orNothing))
      .map((source) => ({
        value: source.value,
        through: new Set([...source.through, change]),
        // A file that is open for writing while its name changes is written under its new name.
        writers: isInPlace ? writers : source.writers,
        isInPlace: isInPlace || source.isInPlace,
        isTorn: source.isTorn || source.writers.size > 0,
      }))
  }
}

/** All that may be, or may have been, under one name. */
class Name {
  readonly changes = new Set<Change>()
  #past: Stay[] = []
  readonly #here = new Map<string, Stay>()

  constructor() {
    this.come(nothingYet, -Infinity)
  }

  get here(): readonly Stay[] {
    return [...this.#here.values()]
  }

  between(from: number, to: number): readonly Stay[] {
    return [...this.#past, ...this.#here.values()].filter(({ since, until }) => since <= to && until >= from)
  }

  /** True where it was not here. */
  come(possible: Possible, at: number): boolean {
    const key = keyOf(possible)
    const stay = this.#here.get(key)
    if (stay === undefined) this.#here.set(key, { ...possible, since: at, until: Infinity, arrived: at })
    else stay.arrived = Math.max(stay.arrived, at)
    return stay === undefined
  }

  /** Time has passed, in which it was written on. */
  goOn(now: number): void {
    for (const stay of this.#here.values()) if (stay.writers.size > 0) stay.arrived = now
  }

  /** The change has ended: what came by it depends on it no more, and where it is sure it took away what cannot have come later. */
  conclude(change: Change): void {
    const { start, end, isSure } = change
    const takesAway = isSure && this.changes.has(change)
    for (const [key, stay] of Array.from(this.#here)) {
      const isGone = takesAway && stay.arrived < start
      if (!isGone && !stay.through.has(change)) continue
      this.#here.delete(key)
      this.#past.push({ ...stay, until: end })
      if (isGone) continue
      const left: Possible = {
        ...stay,
        through: without(stay.through, change),
        writers: without(stay.writers, change),
        isTorn: stay.isTorn || (!isSure && stay.writers.has(change)),
      }
      this.come(left, stay.arrived)
    }
  }

  /** The change has not been made, nor anything that came by it. */
  withdraw(change: Change): void {
    this.#past = this.#past.filter(({ through }) => !through.has(change))
    for (const [key, stay] of this.#here) if (stay.through.has(change)) this.#here.delete(key)
  }
}

function keyOf({ value, through, writers, isInPlace, isTorn }: Possible): string {
  const numbers = (changes: Changes): string =>
    [...changes]
      .map(({ number }) => number)
      .sort((a, b) => a - b)
      .join()
  return `${isInPlace} ${isTorn} ${numbers(through)} ${numbers(writers)} ${value ?? '/'}`
}

function without(changes: Changes, change: Change): Changes {
  return new Set([...changes].filter((other) => other !== change))
}

/** A part of it, or none, may be seen. */
function mayBePart({ isTorn, writers }: Possible): boolean {
  return isTorn || writers.size > 0
}

/** A part of one, or some of several, may be seen. */
function isTearable(possible: readonly Possible[]): boolean {
  const inPlace = new Set(possible.filter(({ isInPlace }) => isInPlace).map(({ value }) => value))
  return inPlace.size > 1 || possible.some(mayBePart)
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
