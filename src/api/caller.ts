// One call to the service, from key to parsed response: attempts, deadline, renewal of a refused key, a record of every
// attempt. Endpoints are only method and target here; their meaning is in files.ts and tables.ts.

import { sleep } from '../world/clock.ts'
import { acceptAny, drain, readError, readJson } from './answer-body.ts'
import type { Bandwidth } from './bandwidth.ts'
import { decoded } from './content-coding.ts'
import { Deadline } from './deadline.ts'
import { ApiError, isOnlyAccepted } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { KeyHolder } from './key-holder.ts'
import { withRetry } from './retry.ts'
import type { Repeatable } from './retry.ts'
import { sendAlone, sendBehindDelete, type Send, type SendContext } from './send.ts'
import { bodyLengthOf, type Answer, type TransportRequest } from '../world/transport.ts'
import type { CallOptions } from './types.ts'
import type { Log } from '../log.ts'

/** A request body, opened once per attempt. */
export interface RequestBody {
  /** Bytes, sent as Content-Length. */
  readonly length: number
  /** Returns the content, which calls `onProgress` for each piece sent, and stops when `signal` aborts: the attempt ended. */
  open(signal: AbortSignal, onProgress: () => void): string | AsyncIterable<Uint8Array>
}

export interface CallSpec {
  readonly method: TransportRequest['method']
  /** Path for messages and records: a document's path, or the target. */
  readonly path: string
  /** Path and query after the base URL, encoded. */
  readonly target: string
  readonly body?: RequestBody
  /**
   * Sends a DELETE of the same target right before the first attempt, on the same connection; the body is held in memory
   * then. The call rejects with the DELETE's error in two cases: the DELETE failed and this call got 409 because of it,
   * or the DELETE was answered with 202, so that it may still remove the new document.
   */
  readonly isBehindDelete?: boolean
  readonly repeatable: Repeatable
  readonly options: CallOptions | undefined
  /** Deadline in milliseconds if `options` give none. */
  readonly deadlineMs?: number
  /** True: the deadline restarts with each piece of the request's body (of the response's: `isDeadlineForSilence`). */
  readonly isDeadlineForProgress?: boolean
  readonly maxAnswerBytes?: number
  /** True: 202 (accepted, not carried out yet) is an error. */
  readonly isDoneAtOnce?: boolean
  /** True: the body of a success is discarded, whatever it is. */
  readonly isAnswerIgnored?: boolean
  /** Returns true for a status other than 2xx that means success at this attempt. */
  isDone?(status: number, attempt: number): boolean
}

export interface CallerOptions extends SendContext {
  readonly origin: string
  /** Path of the base URL, without a slash at the end. */
  readonly basePath: string
  readonly keys: KeyHolder
  readonly userAgent: string
  readonly deadlineMs: number
  /** Limit for request bodies that are streamed; undefined: none. */
  readonly bandwidth: Bandwidth
  readonly log: Log
}

/** One attempt of a call. */
interface Attempt {
  readonly caller: CallerOptions
  readonly spec: CallSpec
  readonly call: CallDescription
  /** From 1. */
  readonly attempt: number
  readonly deadline: Deadline
}

/** Makes a call; returns its parsed response, undefined for an empty one. Throws ApiError, NetworkError. */
export type Caller = (spec: CallSpec) => Promise<unknown>

/** Abort reason of every attempt. One shared object: a new DOMException captures a stack, which is slow. */
const attemptEnded = new DOMException('the attempt has ended', 'AbortError')
const defaultAttempts = 4
const defaultMaxAnswerBytes = 64 * 1024 * 1024

export function createCaller(caller: CallerOptions): Caller {
  const { clock, chance } = caller.world
  return async (spec) => {
    const call: CallDescription = { method: spec.method, path: spec.path }
    const { signal, watch, reconnect, attempts = defaultAttempts } = spec.options ?? {}
    if (reconnect === true) caller.transport.renew()
    const deadline = new Deadline(
      signal,
      watch,
      spec.options?.deadlineMs ?? spec.deadlineMs ?? caller.deadlineMs,
      clock,
    )
    try {
      return await withRetry(
        {
          repeatable: spec.repeatable,
          attempts,
          random: () => chance.random(),
          remainingMs: () => deadline.remainingMs,
          sleep: (ms) => sleep(clock, ms, { signal: deadline.signal }),
          onRetry: (error, attempt, delayMs) => {
            watch?.onFailure(error)
            caller.log.debug({ ...call, attempt, delayMs, error: String(error) }, 'call is repeated')
          },
        },
        (attempt) => attemptWithKey({ caller, spec, call, attempt, deadline }),
      )
    } catch (error) {
      throw deadline.explain(call, error)
    } finally {
      deadline.dispose()
    }
  }
}

/** Makes one attempt; after a 401 reads the key again, since it may have been rotated, and repeats with the new one. */
async function attemptWithKey(made: Attempt): Promise<unknown> {
  const { caller, spec, attempt } = made
  const key = await caller.keys.current()
  // A repetition sends no DELETE: it could remove what another client has stored since.
  const send = attempt === 1 && spec.isBehindDelete === true ? sendBehindDelete : sendAlone
  try {
    return await attemptOnce(made, key, send)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    const fresh = await caller.keys.renewed(key)
    if (fresh === undefined) throw error
    return await attemptOnce(made, fresh, sendAlone)
  }
}

async function attemptOnce(made: Attempt, key: string, send: Send): Promise<unknown> {
  const { caller, spec, call, attempt, deadline } = made
  const { clock } = caller.world
  const startedAt = clock.monotonic()
  // Aborts the source of the request body, if there is one.
  const ended = spec.body === undefined ? undefined : new AbortController()
  const watch = spec.options?.watch
  const onProgress = (): void => {
    watch?.onProgress()
    if (spec.isDeadlineForProgress === true) deadline.renew()
  }
  // For pieces of the response; `onProgress` alone is for those of the request.
  const onPiece = (): void => {
    onProgress()
    if (spec.options?.isDeadlineForSilence === true) deadline.renew()
  }
  let status: number | undefined
  let bytes = spec.body?.length
  try {
    onProgress()
    const { answer, deleteError } = await send(caller, key, {
      call,
      method: spec.method,
      origin: caller.origin,
      target: caller.basePath + spec.target,
      headers: headersOf(caller, spec, key),
      signal: deadline.signal,
      ...(spec.body === undefined || ended === undefined
        ? {}
        : { body: bodyOf(caller, spec.body, ended.signal, onProgress) }),
    })
    status = answer.status
    bytes ??= bodyLengthOf(answer)
    watch?.onProgress()
    const outcome = await outcomeOf(made, decoded(call, answer), key, onPiece).catch((error: unknown) => {
      const isTaken = error instanceof ApiError && error.status === 409
      throw (isTaken ? deleteError : undefined) ?? error
    })
    // A DELETE that is carried out later (202) would remove the document just stored.
    if (isOnlyAccepted(deleteError)) throw deleteError
    return outcome
  } finally {
    // The service may answer before it has read the whole body (an early 409): its source must stop.
    ended?.abort(attemptEnded)
    const elapsedMs = clock.monotonic() - startedAt
    caller.onRequest?.({ kind: 'api', ...call, status, attempt, elapsedMs, bytes })
  }
}

function bodyOf(
  { bandwidth }: CallerOptions,
  body: RequestBody,
  signal: AbortSignal,
  onProgress: () => void,
): string | AsyncIterable<Uint8Array> {
  const content = body.open(signal, onProgress)
  if (!bandwidth.isLimited || typeof content === 'string') return content
  // Waiting for bandwidth counts as progress, so that it does not run into the deadline.
  return bandwidth.pace(content, signal, onProgress)
}

function headersOf(caller: CallerOptions, spec: CallSpec, key: string): Record<string, string> {
  const headers: Record<string, string> = {
    'x-api-key': key,
    'user-agent': caller.userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  if (spec.body !== undefined) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = String(spec.body.length)
  }
  return headers
}

async function outcomeOf(
  { caller, spec, call, attempt }: Attempt,
  answer: Answer,
  key: string,
  onPiece: () => void,
): Promise<unknown> {
  const isOnlyAccepted = spec.isDoneAtOnce === true && answer.status === 202
  const isSuccess = answer.status >= 200 && answer.status < 300 && !isOnlyAccepted
  if (!isSuccess && spec.isDone?.(answer.status, attempt) !== true)
    throw await readError(call, answer, [key], caller.world.clock.wall())
  if (isSuccess && spec.isAnswerIgnored !== true) {
    return await readJson(call, answer, {
      maxBytes: spec.maxAnswerBytes ?? defaultMaxAnswerBytes,
      onProgress: onPiece,
    })
  }
  if (isSuccess) await acceptAny(call, answer)
  else await drain(answer)
  return undefined
}
