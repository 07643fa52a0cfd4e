// Figures of one pin: how much of it is on this machine. The rounds (`pin-round.ts`) update them, and they can be read at any
// time, also during a round. No I/O. Calls of a round: `begin`, `found` for each document, `counted`; then, if some are missing and
// the service is reachable, `kept`, `documentArrived`, `cannotBeHad` or `doesNotFit` for each, and `roundEnded`.

import type { PinState, PinStatus } from './pin-status.ts'

interface Counts {
  documents: number
  bytes: number
  documentsHere: number
  bytesHere: number
  /** Bytes on disk that all its documents take, without those that another pin counts. */
  needBytes: number
}

const none: Readonly<Counts> = { documents: 0, bytes: 0, documentsHere: 0, bytesHere: 0, needBytes: 0 }

export class PinFigures {
  readonly path: string
  #state: PinState = 'waiting'
  #counts: Counts = { ...none }
  /** Counts of the round under way, so far. */
  #found: Counts = { ...none }
  #problems: string[] = []
  /** True if a folder could not be listed. */
  isPartlyUnknown = false

  constructor(path: string) {
    this.path = path
  }

  get needBytes(): number {
    return this.#counts.needBytes
  }

  status(): PinStatus {
    const { documents, bytes, documentsHere, bytesHere } = this.#counts
    const [first, ...more] = this.#problems
    const problem = first === undefined || more.length === 0 ? first : `${first} (and ${more.length} more)`
    return { path: this.path, state: this.#state, documents, bytes, documentsHere, bytesHere, problem }
  }

  /** A round begins. `problems`: a sentence for each folder that could not be listed. */
  begin(problems: readonly string[]): void {
    this.#found = { ...none }
    this.#problems = [...problems]
    this.isPartlyUnknown = problems.length > 0
  }

  /** The round found a document. */
  found(
    bytes: number,
    bytesHere: number,
    { isHere, needBytes }: { isHere: boolean; needBytes: number },
  ): void {
    this.#found.documents++
    this.#found.bytes += bytes
    this.#found.bytesHere += bytesHere
    this.#found.needBytes += needBytes
    if (isHere) this.#found.documentsHere++
  }

  /** All documents are counted. */
  counted({ isAway }: { isAway: boolean }): void {
    this.#counts = this.#found
    const isAnyMissing = this.#counts.documentsHere < this.#counts.documents
    if (isAway && isAnyMissing) this.#problems.push('the service is away')
    this.#state = isAnyMissing && !isAway ? 'fetching' : this.#isWhole ? 'here' : 'incomplete'
  }

  /** Missing bytes were fetched. */
  kept(bytes: number): void {
    this.#counts.bytesHere += bytes
  }

  /** A missing document is now whole. */
  documentArrived(): void {
    this.#counts.documentsHere++
  }

  /** A document cannot be fetched; the others go on. */
  cannotBeHad(problem: string): void {
    this.#problems.push(problem)
  }

  doesNotFit(path: string): void {
    this.#problems.push(`${path}: what is pinned is beyond --pin-size`)
  }

  /** The round is over. */
  roundEnded({ isAway }: { isAway: boolean }): void {
    if (this.#isWhole) {
      this.#state = 'here'
      return
    }
    if (isAway) this.#problems = ['the service is away']
    // Without a problem, the round was cut short, and the next one begins at once.
    if (this.#problems.length > 0) this.#state = 'incomplete'
  }

  nothingThere(): void {
    this.#counts = { ...none }
    this.#problems = ['nothing has this name now']
    this.isPartlyUnknown = false
    this.#state = 'incomplete'
  }

  /** The path could not be surveyed. */
  notKnown(problem: string): void {
    this.#problems = [problem]
    this.isPartlyUnknown = true
    this.#state = this.#counts.documents === 0 ? 'waiting' : 'incomplete'
  }

  get #isWhole(): boolean {
    return this.#problems.length === 0 && this.#counts.documentsHere === this.#counts.documents
  }
}
