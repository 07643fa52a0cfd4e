// Requests to one bucket, signed. A request that the store does not answer is sent again a few times; no error repeats a URL.

import { setTimeout as sleep } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { doubledMs, type BackoffLimits } from '../../../backoff.ts'
import { timed } from '../../observe/store-calls.ts'
import { ServiceError } from '../../service-error.ts'
import type { ShownAs } from '../backend.ts'
import { type Bucket, type S3Address, parseBucket } from './address.ts'
import { type CredentialSource, findCredentials } from './credentials.ts'

const attempts = 5
/** All of it by chance: many nodes share one store. */
const pauses: BackoffLimits = { firstMs: 200, longestMs: 1_600 }
/** Until the headers of the answer: of a part of 8 MiB, too. */
const answerMs = 60_000
/** How long somebody else may begin a download with a URL, in seconds. */
const presignedSeconds = 60

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Of the body, hexadecimal; made here where it is not given. The store compares it with what has arrived. */
  readonly sha256?: string
  /** Statuses that are no failure besides those below 300. */
  readonly allowed?: readonly number[]
}

export interface S3Answer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  readonly bytes: Buffer
}

export class S3Client {
  readonly #bucket: Bucket
  readonly #credentials: CredentialSource
  /** Keys for a day's signatures. */
  readonly #signingKeys = new Map<string, ArrayBuffer>()
  readonly #now: () => number

  /** `now`: epoch milliseconds. S3 refuses what was signed a quarter of an hour off, so a node's own clock may not decide. */
  static async open(address: S3Address, now: () => number): Promise<S3Client> {
    const bucket = parseBucket(address)
    return new S3Client(bucket, await findCredentials(bucket.region), now)
  }

  private constructor(bucket: Bucket, credentials: CredentialSource, now: () => number) {
    this.#bucket = bucket
    this.#credentials = credentials
    this.#now = now
  }

  /** Of the request that makes an object: how the store is to encrypt it. */
  get objectHeaders(): Readonly<Record<string, string>> {
    return this.#bucket.encryption
  }

  get prefix(): string {
    return this.#bucket.prefix
  }

  /** The whole answer. Throws ServiceError 503 when the store does not answer, another error when it refuses. */
  ask(wanted: S3Request): Promise<S3Answer> {
    return this.#untilAnswered(wanted, async (answer) => {
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, ok: answer.ok, headers: answer.headers, bytes }
    })
  }

  /** The same, its body yet to come. */
  open(wanted: S3Request): Promise<Response> {
    return this.#untilAnswered(wanted, async (answer) => answer)
  }

  /** A URL with which anybody may get the object until a minute after `now` (epoch milliseconds): a secret. */
  async presign(key: string, { mimetype, disposition }: ShownAs, now: number): Promise<string> {
    const { base, prefix } = this.#bucket
    const url = new URL(`${base}${prefix}${key}`)
    const query = {
      'X-Amz-Expires': String(presignedSeconds),
      'response-cache-control': 'private, no-transform',
      'response-content-disposition': disposition,
      'response-content-type': mimetype,
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signed = await this.#sign(url, { method: 'GET', signQuery: true, datetime: datetimeOf(now) })
    // The signature is over %20; a plus is a space to some stores only.
    return signed.url.href.replaceAll('+', '%20')
  }

  async #untilAnswered<Answer>(
    wanted: S3Request,
    take: (answer: Response) => Promise<Answer>,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      let answer = await this.#once(wanted).catch((error: unknown) => failed(error))
      if (answer instanceof Response && (answer.ok || wanted.allowed?.includes(answer.status) === true)) {
        const taken = await take(answer).catch((error: unknown) => failed(error))
        if (!(taken instanceof Error)) return taken
        answer = taken
      }
      const reason = answer instanceof Response ? await refusal(answer, this.#credentials.areOfRole) : answer
      if (reason instanceof Refusal && reason.isOfCredentials) this.#credentials.forget()
      if (reason instanceof Refusal && !reason.isPassing) throw reason
      if (attempt === attempts)
        throw new ServiceError(503, 'the store of contents does not answer: try again', { cause: reason })
      await sleep(doubledMs(attempt, pauses) * Math.random())
    }
  }

  async #once({ method, key, query = {}, headers = {}, body, sha256 }: S3Request): Promise<Response> {
    const { base, prefix } = this.#bucket
    const url = new URL(key === undefined ? base : `${base}${prefix}${key}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const tooLate = new AbortController()
    const timer = setTimeout(() => tooLate.abort(), answerMs)
    try {
      const digest =
        body === undefined
          ? {}
          : { 'x-amz-content-sha256': sha256 ?? createHash('sha256').update(body).digest('hex') }
      const signed = await this.#sign(url, {
        method,
        headers: { ...headers, ...digest },
        datetime: datetimeOf(this.#now()),
      })
      return await timed('s3', method, () =>
        fetch(signed.url, {
          method,
          headers: signed.headers,
          signal: tooLate.signal,
          redirect: 'manual',
          ...(body === undefined ? {} : { body }),
        }),
      )
    } finally {
      clearTimeout(timer)
    }
  }

  async #sign(
    url: URL,
    request: { method: string; headers?: Record<string, string>; signQuery?: boolean; datetime: string },
  ): Promise<{ url: URL; headers: Headers }> {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#credentials.get()
    const signer = new AwsV4Signer({
      url: url.href,
      ...request,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region: this.#bucket.region,
      cache: this.#signingKeys,
    })
    return signer.sign()
  }
}

/** As signatures have it: 20261122T101112Z. */
function datetimeOf(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
}

function failed(error: unknown): Error {
  const { cause } = error as { cause?: unknown }
  if (cause instanceof Error) return cause
  return error instanceof Error ? error : new Error('no answer')
}

/** Codes of the store for bytes that did not arrive as they were sent. */
const damagedOnTheWay: ReadonlySet<string> = new Set(['XAmzContentSHA256Mismatch', 'BadDigest'])
/** Codes of the store for a key that is no more: a role may have a new one by now. */
const keyIsNoMore: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidToken',
  'InvalidAccessKeyId',
])

class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Asked again, it may be answered. */
  readonly isPassing: boolean
  readonly isOfCredentials: boolean

  constructor(status: number, code: string, hasOtherCredentials: boolean) {
    super(`the store of contents answered ${status} ${code}`.trimEnd())
    this.isOfCredentials = keyIsNoMore.has(code)
    this.isPassing =
      status >= 500 ||
      status === 429 ||
      damagedOnTheWay.has(code) ||
      (this.isOfCredentials && hasOtherCredentials)
  }
}

async function refusal(answer: Response, hasOtherCredentials: boolean): Promise<Refusal> {
  const text = await answer.text().catch(() => '')
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
  return new Refusal(answer.status, code, hasOtherCredentials)
}
