// Many documents on their way, eight at a time: what became of each, and one line about all of them. One that fails is
// named, and the others go on.

import PQueue from 'p-queue'
import { DaemonError } from '../daemon/daemon-error.ts'
import { formatBytes } from '../amounts.ts'
import { exitCodes } from './exit-codes.ts'
import { type JsonOption, printJson } from './output.ts'
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
  readonly report: TransferReport
}

/** Outcome of each document, for a script. */
export class TransferReport {
  readonly done: { readonly path: string; readonly bytes: number | undefined }[] = []
  readonly skipped: { readonly path: string }[] = []
  readonly failed: { readonly path: string; readonly error: string }[] = []
}

/** With `--json` prints the report, its `done` under a name of its own, and why it ended early. */
export async function reporting(
  { json }: JsonOption,
  word: string,
  work: (report: TransferReport) => Promise<void>,
): Promise<void> {
  const report = new TransferReport()
  const { done, skipped, failed } = report
  try {
    await work(report)
    if (json === true) printJson({ [word]: done, skipped, failed })
  } catch (error) {
    if (json === true && error instanceof Error)
      printJson({ [word]: done, skipped, failed, error: error.message })
    throw error
  }
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
  #doneBytes = 0
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
        const { report } = this.#options
        if (outcome === 'skipped') report.skipped.push({ path })
        else report.done.push({ path, bytes })
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
    this.#options.report.failed.push({ path, error: problem.message })
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
    const { done, skipped, failed } = this.#options.report
    const through = done.length + skipped.length + failed.length
    this.#options.progress.tell(`${through} of ${this.#known} documents`)
  }

  #summary(): string {
    const { report, done } = this.#options
    const rest = this.#known - report.done.length - report.skipped.length - report.failed.length
    return [
      `${report.done.length} ${done} (${formatBytes(this.#doneBytes)})`,
      ...(report.skipped.length > 0 ? [`${report.skipped.length} skipped`] : []),
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
