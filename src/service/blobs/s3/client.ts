// Requests to one bucket, signed. What the store does not answer is asked again a few times; no error repeats a URL.

import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { doubledMs, type BackoffLimits } from '../../../backoff.ts'
import { ServiceError } from '../../service-error.ts'
import type { ShownAs } from '../backend.ts'
import { type Bucket, type S3Address, findCredentials, parseBucket } from './address.ts'

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
  readonly #signer: AwsClient
  readonly #now: () => number

  /** `now`: epoch milliseconds. S3 refuses what was signed a quarter of an hour off, so a node's own clock may not decide. */
  static async open(address: S3Address, now: () => number): Promise<S3Client> {
    const bucket = parseBucket(address)
    return new S3Client(
      bucket,
      new AwsClient({ ...(await findCredentials()), service: 's3', region: bucket.region, retries: 0 }),
      now,
    )
  }

  private constructor(bucket: Bucket, signer: AwsClient, now: () => number) {
    this.#bucket = bucket
    this.#signer = signer
    this.#now = now
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
    const aws = { signQuery: true, datetime: datetimeOf(now) }
    const signed = await this.#signer.sign(url.href, { method: 'GET', aws })
    // What is signed is %20; a plus is a space to some stores only.
    return signed.url.replaceAll('+', '%20')
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
      const isPassing = !(answer instanceof Response) || answer.status >= 500 || answer.status === 429
      const reason = answer instanceof Response ? await refusal(answer) : answer
      if (!isPassing) throw reason
      if (attempt === attempts)
        throw new ServiceError(503, 'the store of contents does not answer: try again', { cause: reason })
      await sleep(doubledMs(attempt, pauses) * Math.random())
    }
  }

  async #once({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Response> {
    const { base, prefix } = this.#bucket
    const url = new URL(key === undefined ? base : `${base}${prefix}${key}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const tooLate = new AbortController()
    const timer = setTimeout(() => tooLate.abort(), answerMs)
    try {
      // Without the body, which is not signed: its hash would be made a second time.
      const aws = { datetime: datetimeOf(this.#now()) }
      const signed = await this.#signer.sign(url.href, { method, headers: { ...headers }, aws })
      return await fetch(signed.url, {
        method,
        headers: signed.headers,
        signal: tooLate.signal,
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
      })
    } finally {
      clearTimeout(timer)
    }
  }
}

/** As signatures have it: 20261122T101112Z. */
function datetimeOf(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
}

function failed(error: unknown): Error {
  const { cause } = error as { cause?: unknown }
  return cause instanceof Error ? cause : new Error('no answer')
}

async function refusal(answer: Response): Promise<Error> {
  const text = await answer.text().catch(() => '')
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
  return new Error(`the store of contents answered ${answer.status} ${code}`.trimEnd())
}
