// Where a bucket is, as an argument says it. Keys are in no argument (`credentials.ts`).

import { StartError } from '../../start-error.ts'

export interface S3Address {
  /**
   * `s3://BUCKET[/PREFIX]?endpoint=URL&region=REGION&sse=AES256|aws:kms&sse-key=ID`; AWS's own endpoint where none is given.
   */
  readonly url: string
  /** Downloads are sent to the bucket itself, which clients have to reach under the same endpoint. */
  readonly isDirect?: boolean
}

export interface Bucket {
  /** Of the bucket, with a slash at its end: the bucket is part of the path. */
  readonly base: string
  /** Before every key; empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  /** Headers that say how the store is to encrypt an object; none where it is to do as it does. */
  readonly encryption: Readonly<Record<string, string>>
}

const encryptions: ReadonlySet<string> = new Set(['AES256', 'aws:kms', 'aws:kms:dsse'])

/** Throws a StartError on what is no address of a bucket, or carries a key. */
export function parseBucket({ url: text }: S3Address): Bucket {
  if (!/^s3:\/\/[^/?@]+(?:\/|\?|$)/.test(text)) {
    throw new StartError(
      /^s3:\/\/[^/?]*@/.test(text)
        ? 'the URL of the bucket holds a key, and arguments can be read by everybody on this machine: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
        : 'the bucket has to be given as s3://BUCKET?endpoint=URL',
    )
  }
  const url = new URL(text)
  const region = url.searchParams.get('region') ?? process.env['AWS_REGION'] ?? 'us-east-1'
  const endpoint = url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  if (!isEndpoint(endpoint))
    throw new StartError(
      'the endpoint of the bucket is no URL that begins with http:// or https://, without a key in it',
    )
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  return {
    base: `${endpoint.replace(/\/+$/, '')}/${url.hostname}/`,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    encryption: encryptionOf(url.searchParams),
  }
}

function encryptionOf(parameters: URLSearchParams): Record<string, string> {
  const [algorithm, key] = [parameters.get('sse'), parameters.get('sse-key')]
  if (algorithm === null && key === null) return {}
  if (algorithm === null || !encryptions.has(algorithm))
    throw new StartError(`sse of the bucket is one of ${[...encryptions].join(', ')}`)
  if (key !== null && algorithm === 'AES256')
    throw new StartError('sse-key of the bucket goes with sse=aws:kms')
  return {
    'x-amz-server-side-encryption': algorithm,
    ...(key === null ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': key }),
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}
