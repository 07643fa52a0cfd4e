// A `Files` that wraps another, and remembers the changes whose answer is lost: the service may carry them out later. A DELETE
// would then take away what was stored at its path since, an upload bring back what was deleted since, and a copy within the
// service copy what was stored at its source since. So whatever would suffer waits until that is over.

import { ApiError, isOutcomeUnknown } from '../../api/errors.ts'
import type {
  CallOptions,
  Download,
  Files,
  FolderListing,
  Range,
  RemoteFile,
  Upload,
} from '../../api/types.ts'
import { isAtOrUnder } from '../../path.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import type { SentDeletes } from '../spool/tables/sent-deletes.ts'

/** A request that nobody waits for any more may be carried out for so long (ms). */
export const lateMs = 5_000

/** A change whose answer is lost. */
export interface LateChange {
  readonly verb: 'put' | 'delete'
  readonly path: string
  /** Path of the document that the service was to copy. */
  readonly source?: string | undefined
}

interface Doubt extends LateChange {
  /** Steady clock (ms). */
  readonly until: number
}

export class LateFiles implements Files {
  readonly project: string
  readonly #inner: Files
  readonly #clock: Clock
  readonly #sentDeletes: Pick<SentDeletes, 'note'>
  /** Oldest first. */
  #doubts: Doubt[] = []

  constructor(inner: Files, clock: Clock, sentDeletes: Pick<SentDeletes, 'note'>) {
    this.#inner = inner
    this.#clock = clock
    this.#sentDeletes = sentDeletes
    this.project = inner.project
  }

  get(path: string, options?: CallOptions): Promise<RemoteFile | FolderListing> {
    return this.#inner.get(path, options)
  }

  download(url: string, path: string, range: Range, options?: CallOptions): Promise<Download> {
    return this.#inner.download(url, path, range, options)
  }

  upload(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile> {
    return this.#watch([putOf(path, upload)], () => this.#inner.upload(path, upload, options))
  }

  replace(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile> {
    this.#noteDelete(path)
    const changes: LateChange[] = [{ verb: 'delete', path }, putOf(path, upload)]
    return this.#watch(changes, () => this.#inner.replace(path, upload, options))
  }

  delete(path: string, options?: CallOptions): Promise<void> {
    this.#noteDelete(path)
    return this.#watch([{ verb: 'delete', path }], () => this.#inner.delete(path, options))
  }

  /** Resolves when no earlier change can spoil an upload to the path. Throws the signal's reason. */
  ready(path: string, signal: AbortSignal): Promise<void> {
    return this.#over((late) => endangersUpload(late, path), signal)
  }

  /** Resolves when no earlier upload can arrive at the path, or below it. Throws the signal's reason. */
  arrivalsOver(path: string, signal: AbortSignal): Promise<void> {
    return this.#over(({ verb, path: at }) => verb === 'put' && isAtOrUnder(at, path), signal)
  }

  /** These may have been under way a moment ago. */
  mayArrive(changes: Iterable<LateChange>): void {
    const until = this.#clock.steady() + lateMs
    for (const change of changes) this.#doubts.push({ ...change, until })
  }

  /** For the next start. A full disk must not keep back what would make room on it. */
  #noteDelete(path: string): void {
    try {
      this.#sentDeletes.note(path)
    } catch {
      // Without the note, only a kill within the next moment is a risk.
    }
  }

  async #watch<T>(changes: readonly LateChange[], call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (isLate(error)) this.mayArrive(changes)
      throw error
    }
  }

  async #over(endangers: (late: LateChange) => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.steady()
      if ((this.#doubts[0]?.until ?? Infinity) <= now)
        this.#doubts = this.#doubts.filter(({ until }) => until > now)
      const last = this.#doubts.findLast(endangers)
      if (last === undefined) return
      await sleep(this.#clock, last.until - now, { signal })
    }
  }
}

/** True where an upload to the path would be lost, refused or copied if that change came after it. */
function endangersUpload({ verb, path: at, source }: LateChange, path: string): boolean {
  if (source === path) return true
  // The same upload once more is refused: a document stands there by then.
  if (verb === 'put' && at === path) return false
  return isAtOrUnder(at, path) || isAtOrUnder(path, at)
}

/** True where the service, or a gateway before it, may still be at work on the request. */
function isLate(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 502 || error.status === 504
  return isOutcomeUnknown(error)
}

function putOf(path: string, { content }: Upload): LateChange {
  return { verb: 'put', path, source: content.kind === 'uri' ? content.source : undefined }
}
