// Transfers many documents, eight at a time. If one fails, its error is printed and the others continue; a summary follows at the
// end.

import PQueue from 'p-queue'
import { CommandError } from './command-error.ts'
import { formatBytes } from '../amounts.ts'
import { exitCodes } from './exit-codes.ts'
import { type JsonOption, printJson } from './output.ts'
import { printable } from '../printable.ts'
import type { Progress } from './progress.ts'
import { exitCodeOf, isKnown } from './report-error.ts'
import { nameOf } from '../path.ts'

export const transfersAtOnce = 8

export interface TransfersOptions {
  /** The word for a transferred document in the summary: `stored`. */
  readonly done: string
  readonly isQuiet: boolean
  readonly progress: Progress
  /** When it is aborted, no more transfers start. */
  readonly signal: AbortSignal
  readonly report: TransferReport
}

/** Outcome of each document, printed with `--json`. */
export class TransferReport {
  readonly done: { readonly path: string; readonly bytes: number | undefined }[] = []
  readonly skipped: { readonly path: string }[] = []
  readonly failed: { readonly path: string; readonly error: string }[] = []
}

/** Does the work with a new report. With `--json`, prints the report, with `doneKey` for `done`, and the error if there is one. */
export async function withReport(
  { json }: JsonOption,
  doneKey: string,
  work: (report: TransferReport) => Promise<void>,
): Promise<void> {
  const report = new TransferReport()
  const { done, skipped, failed } = report
  try {
    await work(report)
    if (json === true) printJson({ [doneKey]: done, skipped, failed })
  } catch (error) {
    if (json === true && error instanceof Error)
      printJson({ [doneKey]: done, skipped, failed, error: error.message })
    throw error
  }
}

/**
 * - `refused`: the service, or a check of this command, does not accept the document: another attempt would fail, too.
 * - `failed`: all other errors.
 */
type Problem = { readonly kind: 'refused' | 'failed'; readonly reason: string; readonly isTemporary: boolean }

export class Transfers {
  readonly #options: TransfersOptions
  readonly #queue = new PQueue({ concurrency: transfersAtOnce })
  readonly #problems: Problem[] = []
  #doneBytes = 0
  #added = 0
  /** A bug, or an error that all other transfers would have, too. */
  #stoppedBy: Error | undefined

  constructor(options: TransfersOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#queue.clear(), { once: true })
  }

  /** Queues the transfer of a document. `work` returns `skipped` if there was nothing to do. `bytes`: undefined if unknown. */
  add(path: string, bytes: number | undefined, work: () => Promise<'done' | 'skipped'>): void {
    this.#added++
    this.#options.progress.expect(bytes ?? 0)
    this.#updateNote()
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
      this.#updateNote()
    })
  }

  /** Records and prints the failure of one path. An error that concerns all paths stops the queue. */
  fail(path: string, error: unknown): void {
    if (this.#isOver) return
    const problem = error instanceof Error ? error : new Error(String(error))
    if (!isKnown(problem)) this.#stoppedBy = problem
    if (concernsAll(problem)) this.#stoppedBy = problem
    if (this.#stoppedBy !== undefined) this.#queue.clear()
    this.#problems.push(problemOf(path, problem))
    this.#options.report.failed.push({ path, error: problem.message })
    const { message } = problem
    this.#options.progress.printLine(
      `docmount: ${printable(message.includes(printable(path)) ? message : `${path}: ${message}`)}`,
    )
  }

  /** Waits for all transfers, and prints the summary. Throws a bug as it is, and a CommandError with the summary if any failed. */
  async finish(): Promise<void> {
    await this.#queue.onIdle()
    this.#options.progress.end()
    const { signal, isQuiet } = this.#options
    if (this.#stoppedBy !== undefined && !isKnown(this.#stoppedBy)) throw this.#stoppedBy
    const line = this.#summary()
    if (signal.aborted)
      throw new CommandError(`interrupted: ${line}; with --skip-existing the same command continues`)
    if (this.#problems.length === 0) {
      if (!isQuiet) console.error(line)
      return
    }
    throw new CommandError(line, { isTemporary: this.#problems.every(({ isTemporary }) => isTemporary) })
  }

  get #isOver(): boolean {
    return this.#options.signal.aborted || this.#stoppedBy !== undefined
  }

  #updateNote(): void {
    const { done, skipped, failed } = this.#options.report
    const finished = done.length + skipped.length + failed.length
    this.#options.progress.setNote(`${finished} of ${this.#added} documents`)
  }

  #summary(): string {
    const { report, done } = this.#options
    const rest = this.#added - report.done.length - report.skipped.length - report.failed.length
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

/** True if the next document would fail, too: the key is refused, or the local disk is full or read-only. */
function concernsAll(error: Error): boolean {
  const { status, code } = error as { status?: unknown; code?: unknown }
  return status === 401 || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
}

/** Shortens the message to its reason, without the path and without the advice behind `;`: equal reasons are counted together. */
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
