// Keeps pinned documents on this machine: one round (`pin-round.ts`) after the other while the service is reachable, none while
// it is away. A command, or the return of the service, begins a round at once.

import type { Disk } from '../../world/disk.ts'
import type { Clock, Timer } from '../../world/clock.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import { doubledMs } from '../../backoff.ts'
import { diskBytesOf } from '../../content/disk/disk-bytes.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import type { FetchSources } from './fetch-documents.ts'
import { PinFigures } from './pin-figures.ts'
import { pinRound, type RoundOutcome } from './pin-round.ts'
import type { PinAnswer, PinStatus } from './pin-status.ts'
import type { PinStore } from './pin-store.ts'
import { noRoomFor } from './room.ts'
import { Setbacks } from './setbacks.ts'
import { survey, type Survey } from './survey.ts'

export interface PinsOptions extends FetchSources {
  readonly store: PinStore
  readonly saved: SavedListings
  readonly reach: Reach
  readonly log: Log
  readonly clock: Clock
  readonly disk: Disk
  readonly cacheDir: string
  /** Greatest age of anything shown (ms). Without failures, rounds are at least this far apart. */
  readonly ttlMs: number
}

/** Shortest pause between two rounds. */
const shortestPauseMs = 1_000
/** Pause for each pinned folder: listing all of them anew costs at most four calls a second. */
const pausePerFolderMs = 250
/** Longest time a round starts fetches: the next round finds the changes made meanwhile. */
const longestRoundMs = 60_000
/** Pause after a folder could not be listed for the first time. */
const firstBackoffMs = 2_000

export class Pins {
  readonly #options: PinsOptions
  readonly #figures = new Map<string, PinFigures>()
  readonly #setbacks: Setbacks
  readonly #closing = new AbortController()
  #rounds: Promise<void> | undefined
  #isRoundDue = false
  #wake: () => void = () => {}

  constructor(options: PinsOptions) {
    this.#options = options
    this.#setbacks = new Setbacks(options.clock.monotonic)
    options.reach.onChange((state, before) => {
      if (state === 'reachable' && before === 'away') this.look()
    })
  }

  /** Begins a round now, if anything is pinned, and tries failed documents again. */
  look(): void {
    if (this.#options.store.list().length > 0) this.#begin()
  }

  status(): readonly PinStatus[] {
    return this.#pins().map((pin) => pin.status())
  }

  /**
   * Pins the documents at and under a path, also future ones. Throws ENOENT if nothing has this name, the signal's reason, and
   * the system's errors if the pin cannot be stored.
   */
  async pin(path: string, signal: AbortSignal): Promise<PinAnswer> {
    const { store, reach, tree } = this.#options
    if (!store.has(path)) {
      const found = await survey(tree, path, signal).catch((error: unknown) => {
        // While the service is away the pin is accepted unseen: the round after its return surveys it.
        if (reach.isAway) return undefined
        throw error
      })
      const noRoom = found === undefined ? undefined : await this.#noRoomFor(found)
      if (noRoom !== undefined) return { kind: 'no-room', ...noRoom }
      signal.throwIfAborted()
      store.add(path)
    }
    this.#begin()
    return { kind: 'pinned', pin: this.#figuresOf(path).status(), isAway: reach.isAway }
  }

  /** Throws ENOENT if it is not pinned. */
  unpin(path: string): void {
    const { store } = this.#options
    if (!store.has(path)) {
      const above = store.pinOf(path)
      const hint =
        above === undefined ? 'it is not pinned' : `it is not pinned itself: it lies in ${above}, which is`
      throw new ErrnoError('ENOENT', `${path}: ${hint}`)
    }
    store.remove(path)
    this.#figures.delete(path)
    this.#begin()
  }

  /** Called after a rename on this drive: pins at and under the old path move to the new one. */
  moved(from: string, to: string): void {
    try {
      if (this.#options.store.move(from, to)) this.#begin()
    } catch (error) {
      this.#options.log.warn({ from, to, error: String(error) }, 'a pin could not follow a rename')
    }
  }

  /** Begins a round now. It runs also if nothing is pinned any more, to release the documents of removed pins. */
  #begin(): void {
    this.#isRoundDue = true
    this.#setbacks.clear()
    this.#wake()
    if (this.#closing.signal.aborted) return
    this.#rounds ??= this.#runRounds().finally(() => {
      this.#rounds = undefined
      if (this.#isRoundDue) this.#begin()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException('the drive ends', 'AbortError'))
    this.#wake()
    await this.#rounds
  }

  /** Runs round after round, until nothing is pinned. */
  async #runRounds(): Promise<void> {
    let failures = 0
    while (!this.#closing.signal.aborted && (this.#isRoundDue || this.#options.store.list().length > 0)) {
      if (this.#isRoundDue) failures = 0
      this.#isRoundDue = false
      const outcome = await this.#runRound()
      if (outcome === undefined) return
      if (this.#isRoundDue || outcome.isCutShort) continue
      failures = outcome.hasFailed ? failures + 1 : 0
      await this.#pause(this.#pauseMs(outcome, failures))
    }
  }

  /** Runs one round; undefined if the drive ends. */
  async #runRound(): Promise<RoundOutcome | undefined> {
    const { signal } = this.#closing
    const until = this.#options.clock.monotonic() + longestRoundMs
    try {
      const outcome = await pinRound(this.#pins(), {
        ...this.#options,
        setbacks: this.#setbacks,
        signal,
        isOver: () => this.#isRoundDue || this.#options.clock.monotonic() > until,
      })
      this.#options.saved.flush()
      return outcome
    } catch (error) {
      if (signal.aborted) return undefined
      this.#options.log.warn({ error: String(error) }, 'what is pinned could not be looked at')
      return { folders: 0, hasFailed: true, againInMs: Infinity, isCutShort: false }
    }
  }

  /** Returns the pause before the next round; Infinity while the service is away. */
  #pauseMs({ folders, againInMs }: RoundOutcome, failures: number): number {
    if (this.#options.reach.isAway) return Infinity
    const usualMs = Math.max(this.#options.ttlMs, folders * pausePerFolderMs)
    const limits = { firstMs: firstBackoffMs, longestMs: usualMs }
    const dueInMs = failures === 0 ? usualMs : doubledMs(failures, limits)
    return Math.max(shortestPauseMs, Math.min(dueInMs, againInMs))
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isRoundDue || this.#closing.signal.aborted) return
    const { clock } = this.#options
    let timer: Timer | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (ms !== Infinity) timer = clock.setTimeout(resolve, ms).unref()
    })
    clock.clear(timer)
    this.#wake = () => {}
  }

  /** Figures of all pins, in the order of their paths. */
  #pins(): readonly PinFigures[] {
    return this.#options.store.list().map((path) => this.#figuresOf(path))
  }

  #figuresOf(path: string): PinFigures {
    const known = this.#figures.get(path)
    if (known !== undefined) return known
    const figures = new PinFigures(path)
    this.#figures.set(path, figures)
    return figures
  }

  async #noRoomFor({ documents }: Survey) {
    const { store, reader, cacheDir, disk } = this.#options
    const added = documents.filter(({ path }) => store.pinOf(path) === undefined)
    const { pinSizeBytes } = await reader.disk.amount()
    const taken = this.#pins().reduce((sum, { needBytes }) => sum + needBytes, 0)
    return noRoomFor(
      { documents: added.length, needBytes: added.reduce((sum, { bytes }) => sum + diskBytesOf(bytes), 0) },
      {
        bound: 'pin-size',
        sizeBytes: pinSizeBytes,
        freeBytes: Math.max(0, pinSizeBytes - taken),
        dir: cacheDir,
        disk,
      },
    )
  }
}
