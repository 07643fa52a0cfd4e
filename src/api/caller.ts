// One call to the service, from key to parsed answer: attempts, deadline, the renewal of a refused key, the record of
// every attempt. Knows endpoints by method and target only; what they mean is in files.ts and tables.ts.

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
import { sendAlone, sendBehindDelete, type Send, type Way } from './send.ts'
import { bodyLengthOf, type Answer, type TransportRequest } from '../world/transport.ts'
import type { CallOptions } from './types.ts'
import type { Log } from '../log.ts'

/** A request body, made anew for every attempt. */
export interface RequestBody {
  /** Bytes, for Content-Length. */
  readonly length: number
  /** `onProgress` is told whenever the connection took a piece; `signal` aborts when the attempt has ended. */
  open(signal: AbortSignal, onProgress: () => void): string | AsyncIterable<Uint8Array>
}

export interface CallSpec {
  readonly method: TransportRequest['method']
  /** The place as messages and records call it: a document's path, or the target. */
  readonly path: string
  /** Path and query after the base URL, encoded. */
  readonly target: string
  readonly body?: RequestBody
  /**
   * The first attempt goes out right behind a DELETE of the same target, on its connection; the body is in memory
   * then. The answer to the DELETE counts only where it failed and this was refused for that (409), and where it is
   * still to be carried out (202): then the call rejects with its error.
   */
  readonly isBehindDelete?: boolean
  readonly repeatable: Repeatable
  readonly options: CallOptions | undefined
  /** Milliseconds, where the options say nothing. */
  readonly deadlineMs?: number
  /** The deadline is time without progress of the body, not time for the whole call. */
  readonly isDeadlineForProgress?: boolean
  readonly maxAnswerBytes?: number
  /** It is done when it is answered, or not: 202 (accepted) is no success. */
  readonly isDoneAtOnce?: boolean
  /** Success is all that counts: whatever the body says is thrown away. */
  readonly isAnswerIgnored?: boolean
  /** Statuses besides 2xx that mean success. */
  isDone?(status: number, attempt: number): boolean
}

export interface CallerOptions extends Way {
  readonly origin: string
  /** Path of the base URL without a slash at its end. */
  readonly basePath: string
  readonly keys: KeyHolder
  readonly userAgent: string
  readonly deadlineMs: number
  /** For bodies that stream. */
  readonly bandwidth: Bandwidth | undefined
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

/** Makes a call and gives its parsed answer, undefined for an empty one. Throws ApiError, NetworkError. */
export type Caller = (spec: CallSpec) => Promise<unknown>

/** One for all: making one captures a stack, which costs as much as a call's bookkeeping. */
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

/** A 401 may only mean that the key was rotated: one more try with the new one. */
async function attemptWithKey(made: Attempt): Promise<unknown> {
  const { caller, spec, attempt } = made
  const key = await caller.keys.current()
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
  // Only who feeds a body is told.
  const ended = spec.body === undefined ? undefined : new AbortController()
  const watch = spec.options?.watch
  const onProgress = (): void => {
    watch?.onProgress()
    if (spec.isDeadlineForProgress === true) deadline.renew()
  }
  const onPiece = (): void => {
    onProgress()
    if (spec.options?.isDeadlineForSilence === true) deadline.renew()
  }
  let status: number | undefined
  let bytes = spec.body?.length
  try {
    onProgress()
    const { answer, deleted } = await send(caller, key, {
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
      throw (isTaken ? deleted : undefined) ?? error
    })
    // A delete that is still to come takes what was stored.
    if (isOnlyAccepted(deleted)) throw deleted
    return outcome
  } finally {
    // The service may answer before it has read the body (an early 409): whoever feeds the body must stop.
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
  if (bandwidth === undefined || typeof content === 'string') return content
  // To wait for one's turn is progress, too.
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
