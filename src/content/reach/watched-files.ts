// A `Files` that wraps another: it watches the calls to tell whether the service is there, and while it is away refuses each
// call at once.

import type { World } from '../../world/world.ts'
import { sleep, type Clock, type Timer } from '../../world/clock.ts'
import { ApiError, NetworkError } from '../../api/errors.ts'
import type {
  CallOptions,
  Download,
  Files,
  FolderListing,
  Range,
  RemoteFile,
  Upload,
} from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { CallsUnderWay, CallUnderWay, type CallKind } from './calls-under-way.ts'
import { evidenceOf, type Evidence } from './evidence.ts'
import { askedAgain } from './asked-again.ts'
import { Reach } from './reach.ts'
import { Uplink } from './uplink.ts'

/** Longest time for a probe while bytes of its answer arrive (ms). */
const longestProbeMs = 60_000
/** A probe answered within this time did not wait behind our own uploads (ms). */
const promptMs = 2_500
/** Pause between checks whether the service accepts the present key, while it refuses it (ms). */
const betweenKeysMs = 5_000
const keyDeadlineMs = 14_000

export interface KeyListener {
  /** The service refuses the key. Called once, until a call is answered again. */
  onRefused(reason: string): void
  /** The service accepts the key again, after it refused it at least twice: waiting changes can go. */
  onTaken(): void
}

export class WatchedFiles implements Files {
  readonly project: string
  readonly reach: Reach
  readonly uplink: Uplink
  readonly #inner: Files
  readonly #clock: Clock
  readonly #log: Log
  readonly #onKey: Partial<KeyListener>
  #keyRefusal: string | undefined
  #isCheckingKey = false
  #isClosed = false
  readonly #calls: CallsUnderWay
  /** For each question that may be made a second time, the function that does so. */
  readonly #repeatable = new Map<CallUnderWay, () => void>()
  /** Counts for `docmount status`. A call that the service answers, even with an error, has not failed. */
  apiCalls = 0
  downloads = 0
  failedCalls = 0

  constructor(
    inner: Files,
    log: Log,
    { clock, network }: Pick<World, 'clock' | 'network'>,
    onKey: Partial<KeyListener> = {},
  ) {
    this.#log = log
    this.#onKey = onKey
    this.#inner = inner
    this.#clock = clock
    this.project = inner.project
    this.uplink = new Uplink(clock.monotonic)
    this.reach = new Reach({
      log,
      clock,
      networkState: () => network.state(),
      probe: (silentMs) => this.#probe(silentMs),
    })
    this.#calls = new CallsUnderWay({
      clock,
      isAway: () => this.reach.isAway,
      reason: () => this.reach.absence?.reason ?? 'no answer',
      onSilent: () => this.reach.doubt(),
    })
    this.reach.onChange((state) => {
      if (state === 'away') this.#calls.lost()
      else if (state === 'reachable') this.#found()
    })
  }

  get(path: string, options?: CallOptions): Promise<RemoteFile | FolderListing> {
    return askedAgain(this.#clock, options, (callOptions, mayAskAgain) => {
      this.apiCalls++
      return this.#watch('GET', path, 'question', callOptions, (watched, call) => {
        this.#repeatable.set(call, mayAskAgain)
        return this.#inner.get(path, watched).finally(() => this.#repeatable.delete(call))
      })
    })
  }

  upload(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile> {
    this.apiCalls++
    return this.#watch('PUT', path, 'change', options, (watched) =>
      this.#carried(upload, (counted) => this.#inner.upload(path, counted, watched)),
    )
  }

  replace(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile> {
    this.apiCalls += 2
    return this.#watch('PUT', path, 'change', options, (watched) =>
      this.#carried(upload, (counted) => this.#inner.replace(path, counted, watched)),
    )
  }

  delete(path: string, options?: CallOptions): Promise<void> {
    this.apiCalls++
    return this.#watch('DELETE', path, 'change', options, (watched) => this.#inner.delete(path, watched))
  }

  /** Downloads a range. The host may be another one than the service's: its failures raise doubt, and its answers prove nothing. */
  async download(url: string, path: string, range: Range, options?: CallOptions): Promise<Download> {
    this.downloads++
    this.#checkReach('GET', path)
    const call = this.#begin('GET', path, 'question')
    try {
      const download = await this.#inner.download(url, path, range, { ...options, watch: call })
      this.uplink.answered(call.longestSilentMs)
      return { ...download, chunks: this.#watchedChunks(download.chunks, call) }
    } catch (error) {
      this.#calls.finish(call)
      this.failedCalls++
      if (evidenceOf(error) !== 'answer' && evidenceOf(error) !== 'nothing') this.reach.doubt()
      throw error
    }
  }

  /** The service's message, while it refuses the key. */
  get keyRefusal(): string | undefined {
    return this.#keyRefusal
  }

  /** Ends the probes and the checks of the key. */
  close(): void {
    this.#isClosed = true
    this.reach.close()
  }

  #carried<T>(upload: Upload, send: (upload: Upload) => Promise<T>): Promise<T> {
    const { content } = upload
    if (content.kind !== 'bytes') return send(upload)
    return this.uplink.carry(content, (counted) => send({ ...upload, content: counted }))
  }

  #checkReach(method: string, path: string, cause?: unknown): void {
    if (!this.reach.isAway) return
    const reason = this.reach.absence?.reason ?? 'no answer'
    throw new NetworkError({ method, path }, 'away', `the service is out of reach: ${reason}`, { cause })
  }

  #begin(method: string, path: string, kind: CallKind): CallUnderWay {
    const parts = { clock: this.#clock, uplink: this.uplink }
    const call: CallUnderWay = new CallUnderWay({ method, path }, kind, parts, (error) => {
      this.#tell(error)
      this.#calls.failed(call)
    })
    this.#calls.begin(call)
    return call
  }

  async #watch<T>(
    method: string,
    path: string,
    kind: CallKind,
    options: CallOptions | undefined,
    make: (options: CallOptions, call: CallUnderWay) => Promise<T>,
  ): Promise<T> {
    this.#checkReach(method, path)
    const call = this.#begin(method, path, kind)
    try {
      const answer = await make({ ...options, watch: call }, call)
      if (kind === 'question') this.uplink.answered(call.longestSilentMs)
      this.reach.tell('answer', '')
      this.#keyRefusal = undefined
      return answer
    } catch (error) {
      if (evidenceOf(error) !== 'answer') this.failedCalls++
      this.#tell(error)
      // A caller may use the content on this machine if the service turns out to be away, which is known in a moment.
      if (kind === 'question') await this.reach.decided()
      if (kind === 'question' && evidenceOf(error) !== 'answer') this.#checkReach(method, path, error)
      throw error
    } finally {
      this.#calls.finish(call)
    }
  }

  #tell(error: unknown): void {
    this.#noteRefusedKey(error)
    this.reach.tell(evidenceOf(error), reasonOf(error))
  }

  /** Notes that the key was refused. No change is refused for that, since no document is at fault: all wait for a key. */
  #noteRefusedKey(error: unknown): void {
    if (!(error instanceof ApiError) || error.status !== 401 || !error.isFromService) return
    if (this.#keyRefusal !== undefined) return
    const reason = reasonOf(error)
    this.#keyRefusal = reason
    this.#log.error(
      { reason },
      'the service refuses the key: what is saved waits on this machine for another one',
    )
    this.#onKey.onRefused?.(reason)
    void this.#checkKey()
  }

  /** Waits until the key, which the client reads again at each refusal, is accepted. */
  async #checkKey(): Promise<void> {
    if (this.#isCheckingKey) return
    this.#isCheckingKey = true
    let wasRefused = false
    while (this.#keyRefusal !== undefined && !this.#isClosed) {
      const outcome = await this.get('/', { attempts: 1, deadlineMs: keyDeadlineMs }).catch(
        (error: unknown) => error,
      )
      wasRefused ||= outcome instanceof ApiError && outcome.status === 401
      if (this.#keyRefusal !== undefined) await sleep(this.#clock, betweenKeysMs, { idle: true })
    }
    this.#isCheckingKey = false
    if (wasRefused && !this.#isClosed) this.#onKey.onTaken?.()
  }

  /** The service is there, after doubt or an absence. */
  #found(): void {
    this.#calls.found()
    // Their connections may be dead: the same call on a new one may be answered first.
    for (const call of this.#calls.silent()) this.#repeatable.get(call)?.()
  }

  async #probe(silentMs: number): Promise<{ evidence: Evidence; reason: string }> {
    const controller = new AbortController()
    const askedAt = this.#clock.monotonic()
    let seenAt = askedAt
    let silence: Timer | undefined
    const listen = (): void => {
      const leftMs = silentMs - this.uplink.silentMs(seenAt)
      if (leftMs >= 1) silence = this.#clock.setTimeout(listen, leftMs)
      else controller.abort(new NetworkError({ method: 'GET', path: '/' }, 'deadline', 'no answer'))
    }
    listen()
    const watch = {
      signal: controller.signal,
      onProgress: () => void (seenAt = this.#clock.monotonic()),
      onFailure: () => {},
      silentMs: (since: number) => this.uplink.silentMs(since),
    }
    try {
      this.apiCalls++
      await this.#inner.get('/', { attempts: 1, deadlineMs: longestProbeMs, reconnect: true, watch })
      // It did not wait behind bytes sent before the absence, so those have arrived by now, or are lost.
      const isPrompt = this.#clock.monotonic() - askedAt < promptMs
      if (this.reach.isAway && isPrompt) this.uplink.markFree()
      return { evidence: 'answer', reason: '' }
    } catch (error) {
      const evidence = evidenceOf(error)
      if (evidence !== 'answer') this.failedCalls++
      // An error of our own counts as doubt, so that another probe follows.
      return { evidence: evidence === 'nothing' ? 'doubt' : evidence, reason: reasonOf(error) }
    } finally {
      this.#clock.clear(silence)
    }
  }

  /** Passes the chunks on, and notes that bytes arrive. Time in which the reader asks for none does not count as silence. */
  #watchedChunks(chunks: AsyncIterable<Uint8Array>, call: CallUnderWay): AsyncIterableIterator<Uint8Array> {
    const inner = chunks[Symbol.asyncIterator]()
    call.isResting = true
    const end = (): void => this.#calls.finish(call)
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => {
        call.onProgress()
        call.isResting = false
        return inner.next().then(
          (result) => {
            call.isResting = true
            if (result.done === true) end()
            return result
          },
          (error: unknown) => {
            end()
            this.failedCalls++
            throw error
          },
        )
      },
      async return() {
        end()
        await inner.return?.()
        return { done: true, value: undefined }
      },
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
