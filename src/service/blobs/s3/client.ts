// Signed requests to one bucket. A request is repeated a few times when it gets no answer, or a transient error. No error
// message contains a URL.

import { setTimeout as sleep } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { doubledMs, type BackoffLimits } from '../../../backoff.ts'
import { timeStoreCall } from '../../observe/store-calls.ts'
import { ServiceError } from '../../service-error.ts'
import type { DownloadHeaders } from '../backend.ts'
import { type S3Bucket, type S3Address, parseBucket } from './address.ts'
import { type CredentialSource, findCredentials } from './credentials.ts'

const attempts = 5
/** Upper bounds; each pause is a random part of them, because many nodes share one store. */
const pauses: BackoffLimits = { firstMs: 200, longestMs: 1_600 }
/** Time from a request to the headers of its response: includes the upload of up to 8 MiB. Larger bodies have more. */
const answerMs = 60_000
const answerBytes = 8 * 1024 * 1024
/** How long a client may begin a download with a presigned URL, in seconds. */
const presignedSeconds = 60

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Key of the object, without the prefix; absent for a request to the bucket. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** SHA-256 of the body, hexadecimal; computed here where absent. The store compares it with the bytes that arrive. */
  readonly sha256?: string
  /** Statuses of 300 and more that are returned, not thrown. */
  readonly allowed?: readonly number[]
}

export interface S3Answer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  readonly bytes: Buffer
}

export class S3Client {
  readonly #bucket: S3Bucket
  readonly #credentials: CredentialSource
  /** Signing keys derived from the credentials; each is valid for a day. */
  readonly #signingKeys = new Map<string, ArrayBuffer>()
  readonly #now: () => number

  /** `now`: epoch milliseconds. S3 refuses signatures whose time is 15 minutes off, so the clock of this machine is not used. */
  static async open(address: S3Address, now: () => number): Promise<S3Client> {
    const bucket = parseBucket(address)
    return new S3Client(bucket, await findCredentials(bucket.region), now)
  }

  private constructor(bucket: S3Bucket, credentials: CredentialSource, now: () => number) {
    this.#bucket = bucket
    this.#credentials = credentials
    this.#now = now
  }

  /** Headers for requests that make an object. */
  get encryptionHeaders(): Readonly<Record<string, string>> {
    return this.#bucket.encryption
  }

  get prefix(): string {
    return this.#bucket.prefix
  }

  /** Returns the complete response. Throws ServiceError 503 when the store does not answer, another error when it refuses. */
  ask(wanted: S3Request): Promise<S3Answer> {
    return this.#untilAnswered(wanted, async (answer) => {
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, ok: answer.ok, headers: answer.headers, bytes }
    })
  }

  /** As `ask`, with the body as a stream. */
  open(wanted: S3Request): Promise<Response> {
    return this.#untilAnswered(wanted, async (answer) => answer)
  }

  /** A URL with which anybody may download the object until a minute after `now` (epoch milliseconds). It is a secret. */
  async presign(key: string, { mimetype, disposition }: DownloadHeaders, now: number): Promise<string> {
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
      let answer = await this.#once(wanted).catch((error: unknown) => errorOf(error))
      if (answer instanceof Response && (answer.ok || wanted.allowed?.includes(answer.status) === true)) {
        const taken = await take(answer).catch((error: unknown) => errorOf(error))
        if (!(taken instanceof Error)) return taken
        answer = taken
      }
      const reason =
        answer instanceof Response ? await refusalOf(answer, this.#credentials.isRenewable) : answer
      if (reason instanceof Refusal && reason.isCredentialError) this.#credentials.forget()
      if (reason instanceof Refusal && !reason.isTransient) throw reason
      if (attempt === attempts)
        throw new ServiceError(503, 'the store of contents does not answer: try again', { cause: reason })
      await sleep(doubledMs(attempt, pauses) * Math.random())
    }
  }

  async #once({ method, key, query = {}, headers = {}, body, sha256 }: S3Request): Promise<Response> {
    const { base, prefix } = this.#bucket
    const url = new URL(key === undefined ? base : `${base}${prefix}${key}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const timeout = new AbortController()
    const limitMs = answerMs * Math.max(1, (body?.length ?? 0) / answerBytes)
    const timer = setTimeout(() => timeout.abort(), limitMs)
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
      return await timeStoreCall('s3', method, () =>
        fetch(signed.url, {
          method,
          headers: signed.headers,
          signal: timeout.signal,
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

/** The format that signatures need: 20261122T101112Z. */
function datetimeOf(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
}

function errorOf(error: unknown): Error {
  const { cause } = error as { cause?: unknown }
  if (cause instanceof Error) return cause
  return error instanceof Error ? error : new Error('no answer')
}

/** Error codes for a body that was damaged on its way. */
const checksumErrors: ReadonlySet<string> = new Set(['XAmzContentSHA256Mismatch', 'BadDigest'])
/** Error codes for credentials that are no longer valid; a role's can be fetched again. */
const credentialErrors: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidToken',
  'InvalidAccessKeyId',
])

class Refusal extends Error {
  override readonly name = 'Refusal'
  /** True if a repetition of the request may succeed. */
  readonly isTransient: boolean
  readonly isCredentialError: boolean

  constructor(status: number, code: string, canRenewCredentials: boolean) {
    super(`the store of contents answered ${status} ${code}`.trimEnd())
    this.isCredentialError = credentialErrors.has(code)
    this.isTransient =
      status >= 500 ||
      status === 429 ||
      checksumErrors.has(code) ||
      (this.isCredentialError && canRenewCredentials)
  }
}

async function refusalOf(answer: Response, canRenewCredentials: boolean): Promise<Refusal> {
  const text = await answer.text().catch(() => '')
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
  return new Refusal(answer.status, code, canRenewCredentials)
}
