// Many documents on their way, eight at a time: what became of each, and one line about all of them. One that fails is
// named, and the others go on.

import PQueue from 'p-queue'
import { DaemonError } from '../daemon/daemon-error.ts'
import { formatBytes } from '../amounts.ts'
import { exitCodes } from './exit-codes.ts'
import { printable } from '../printable.ts'
import type { Progress } from './progress.ts'
import { exitCodeOf, isKnown } from './report-error.ts'
import { nameOf } from '../path.ts'

export const transfersAtOnce = 8

export interface TransfersOptions {
  /** Said of what went well: `stored`. */
  readonly done: string
  readonly isQuiet: boolean
  readonly progress: Progress
  /** Ends what is under way, and begins nothing more. */
  readonly signal: AbortSignal
}

/**
 * - `refused`: the service, or this command in its name, does not take it; a second attempt ends the same way.
 * - `failed`: something else went wrong.
 */
type Problem = { readonly kind: 'refused' | 'failed'; readonly reason: string; readonly isTemporary: boolean }

export class Transfers {
  readonly #options: TransfersOptions
  readonly #queue = new PQueue({ concurrency: transfersAtOnce })
  readonly #problems: Problem[] = []
  #done = 0
  #doneBytes = 0
  #skipped = 0
  #known = 0
  /** Would befall all the others, too. */
  #stoppedBy: Error | undefined

  constructor(options: TransfersOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#queue.clear(), { once: true })
  }

  /** Takes one document on. `work` answers whether it was moved. `bytes` undefined: unknown. */
  add(path: string, bytes: number | undefined, work: () => Promise<'done' | 'skipped'>): void {
    this.#known++
    this.#options.progress.expect(bytes ?? 0)
    this.#tell()
    if (this.#isOver) return
    void this.#queue.add(async () => {
      try {
        const outcome = await work()
        if (outcome === 'skipped') this.#skipped++
        else this.#done++
        if (outcome === 'skipped') this.#options.progress.expect(-(bytes ?? 0))
        else this.#doneBytes += bytes ?? 0
      } catch (error) {
        this.fail(path, error)
      }
      this.#tell()
    })
  }

  /** One that did not go well. Throws what is a bug of ours. */
  fail(path: string, error: unknown): void {
    if (this.#isOver) return
    const problem = error instanceof Error ? error : new Error(String(error))
    if (!isKnown(problem)) this.#stoppedBy = problem
    if (isForAll(problem)) this.#stoppedBy = problem
    if (this.#stoppedBy !== undefined) this.#queue.clear()
    this.#problems.push(problemOf(path, problem))
    const { message } = problem
    this.#options.progress.say(
      `docmount: ${printable(message.includes(printable(path)) ? message : `${path}: ${message}`)}`,
    )
  }

  /** When all are through: says what became of them. Throws DaemonError with the same line when anything went wrong. */
  async finish(): Promise<void> {
    await this.#queue.onIdle()
    this.#options.progress.end()
    const { signal, isQuiet } = this.#options
    if (this.#stoppedBy !== undefined && !isKnown(this.#stoppedBy)) throw this.#stoppedBy
    const line = this.#summary()
    if (signal.aborted)
      throw new DaemonError(`interrupted: ${line}; with --skip-existing the same command continues`)
    if (this.#problems.length === 0) {
      if (!isQuiet) console.error(line)
      return
    }
    throw new DaemonError(line, { isTemporary: this.#problems.every(({ isTemporary }) => isTemporary) })
  }

  get #isOver(): boolean {
    return this.#options.signal.aborted || this.#stoppedBy !== undefined
  }

  #tell(): void {
    const through = this.#done + this.#skipped + this.#problems.length
    this.#options.progress.tell(`${through} of ${this.#known} documents`)
  }

  #summary(): string {
    const rest = this.#known - this.#done - this.#skipped - this.#problems.length
    return [
      `${this.#done} ${this.#options.done} (${formatBytes(this.#doneBytes)})`,
      ...(this.#skipped > 0 ? [`${this.#skipped} skipped`] : []),
      ...this.#described('refused'),
      ...this.#described('failed'),
      ...(rest > 0 ? [`${rest} not begun or not finished`] : []),
    ].join(', ')
  }

  #described(kind: Problem['kind']): string[] {
    const found = this.#problems.filter((problem) => problem.kind === kind)
    if (found.length === 0) return []
    const counts = new Map<string, number>()
    for (const { reason } of found) counts.set(reason, (counts.get(reason) ?? 0) + 1)
    const reasons = [...counts]
      .toSorted((a, b) => b[1] - a[1])
      .map(([reason, count]) => `${count} × ${reason}`)
    const more = reasons.length > 3 ? ', …' : ''
    return [`${found.length} ${kind} (${reasons.slice(0, 3).join(', ')}${more})`]
  }
}

/** The key is refused, or there is no room left: the next document fares no better. */
function isForAll(error: Error): boolean {
  const { status, code } = error as { status?: unknown; code?: unknown }
  return status === 401 || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
}

function problemOf(path: string, error: Error): Problem {
  const { status, errorMessage } = error as { status?: unknown; errorMessage?: unknown }
  const isRefused =
    error.name === 'UsageError' || (error.name === 'ApiError' && exitCodeOf(error) !== exitCodes.temporary)
  const text = typeof errorMessage === 'string' && status !== undefined ? errorMessage : error.message
  const name = nameOf(path)
  const reason = text.replaceAll(path, '').replace(`${name}: `, '').split(';')[0] ?? ''
  return {
    kind: isRefused ? 'refused' : 'failed',
    reason: printable(reason.trim()),
    isTemporary: exitCodeOf(error) === exitCodes.temporary,
  }
}
