// Documents that this machine's disk refused to keep: their last content is neither in the service nor in the journal, and
// their close failed. They are still shown, named in `status`, and tried again until they are kept, saved anew or deleted.

import { doublingMs, type BackoffLimits } from '../../backoff.ts'
import { isAtOrUnder } from '../../path.ts'
import type { Log } from '../../log.ts'
import type { World } from '../../world/world.ts'
import type { Timer } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'
import type { Node } from '../tree/node.ts'
import { isUnsubmitted } from './unsubmitted.ts'

const backoff: BackoffLimits = { firstMs: 1_000, longestMs: 60_000 }
/** After so many failures a round ends: the disk would refuse the others, too. */
const mostFailures = 3

interface Refusal {
  error: unknown
  /** Epoch ms. */
  readonly since: number
  attempts: number
  /** True if the person was notified. */
  isNotified: boolean
}

/** One document that the disk refused, for `status` and other commands. */
export interface SaveFailure {
  readonly node: Node
  readonly error: unknown
  readonly since: number
  readonly attempts: number
  /** Epoch ms. */
  readonly nextAttemptAt: number
}

export interface SaveFailuresOptions extends Pick<World, 'clock' | 'chance'> {
  /** Journals the document as it is; calls `refused` if that fails. */
  readonly keep: (node: Node) => Promise<unknown>
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

export class SaveFailures {
  readonly #options: SaveFailuresOptions
  readonly #refusals = new Map<Node, Refusal>()
  #failedRounds = 0
  #timer: Timer | undefined
  #nextAttemptAt = 0
  #round: Promise<number> | undefined
  #isClosed = false

  constructor(options: SaveFailuresOptions) {
    this.#options = options
  }

  /** Notes that the disk refused the document's content. */
  refused(node: Node, error: unknown): void {
    const { clock, log, tell } = this.#options
    const known = this.#refusals.get(node)
    const refusal = known ?? { error, since: clock.wall(), attempts: 0, isNotified: false }
    // The document moves behind the others.
    this.#refusals.delete(node)
    this.#refusals.set(node, refusal)
    refusal.error = error
    refusal.attempts++
    // While a program has it open, its close may still report the error.
    if (!refusal.isNotified && !node.isLocalOnly && node.door.writeHandles === 0) {
      refusal.isNotified = true
      log.error({ path: node.path, error: String(error) }, 'the disk here does not take it: tried again')
      tell({ kind: 'unkept', path: node.path, reason: reasonOf(error) })
    }
    this.#arm()
  }

  /** Returns the refused documents at or under a path, without temporary files: those are named as local-only files. */
  under(path: string): SaveFailure[] {
    this.#forget()
    return [...this.#refusals]
      .filter(([node]) => !node.isLocalOnly && isAtOrUnder(node.path, path))
      .map(([node, { error, since, attempts }]) => ({
        node,
        error,
        since,
        attempts,
        nextAttemptAt: this.#nextAttemptAt,
      }))
  }

  at(path: string): SaveFailure | undefined {
    return this.under(path).find(({ node }) => node.path === path)
  }

  /** Tries all of them now. Returns how many the disk took. */
  tryNow(): Promise<number> {
    // First of all, since the timer may call this with nothing left to try.
    this.#options.clock.clear(this.#timer)
    this.#timer = undefined
    this.#forget()
    if (this.#refusals.size === 0) return Promise.resolve(0)
    this.#round ??= this.#tryAll().finally(() => {
      this.#round = undefined
      this.#arm()
    })
    return this.#round
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.clock.clear(this.#timer)
    await this.#round
  }

  async #tryAll(): Promise<number> {
    const { keep, log } = this.#options
    let kept = 0
    let failures = 0
    // A copy: documents that fail move to the end of the map.
    const refused = [...this.#refusals.keys()]
    for (const node of refused) {
      if (this.#isClosed || failures >= mostFailures) break
      // A document that is open for writing is tried at its close.
      if (node.door.writeHandles > 0 || !isUnkept(node)) continue
      try {
        await keep(node)
        kept++
        log.info({ path: node.path }, 'the disk here took it')
      } catch {
        failures++
      }
    }
    this.#failedRounds = kept > 0 ? 0 : this.#failedRounds + 1
    return kept
  }

  #arm(): void {
    const { clock, chance } = this.#options
    this.#forget()
    if (this.#refusals.size === 0) this.#failedRounds = 0
    if (this.#isClosed || this.#timer !== undefined || this.#round !== undefined) return
    if (this.#refusals.size === 0) return
    const waitMs = doublingMs(this.#failedRounds + 1, backoff, () => chance.random())
    this.#nextAttemptAt = clock.wall() + waitMs
    this.#timer = clock.setTimeout(() => void this.tryNow(), waitMs)
  }

  /** Forgets documents that were kept, saved anew or deleted meanwhile. */
  #forget(): void {
    for (const node of this.#refusals.keys()) if (!isUnkept(node)) this.#refusals.delete(node)
  }
}

function isUnkept(node: Node): boolean {
  return !node.isUnlinked && isUnsubmitted(node)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
