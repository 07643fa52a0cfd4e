// The address of an S3 bucket, parsed from an argument. Credentials are never part of it (`credentials.ts`).

import { StartError } from '../../start-error.ts'

export interface S3Address {
  /**
   * `s3://BUCKET[/PREFIX]?endpoint=URL&region=REGION&sse=AES256|aws:kms&sse-key=ID`; the endpoint is AWS's where absent.
   */
  readonly url: string
  /** Downloads are redirected to presigned URLs of the bucket; clients must be able to reach its endpoint. */
  readonly redirectsDownloads?: boolean
}

export interface S3Bucket {
  /** URL of the bucket, path-style (the bucket is in the path), with a slash at its end. */
  readonly base: string
  /** Begins the key of every object of ours; empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  /** Headers that choose the server-side encryption of an object; none leaves it to the bucket's own setting. */
  readonly encryption: Readonly<Record<string, string>>
}

const encryptions: ReadonlySet<string> = new Set(['AES256', 'aws:kms', 'aws:kms:dsse'])

/** Throws a StartError for a malformed address, and for one that contains credentials. */
export function parseBucket({ url: text }: S3Address): S3Bucket {
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
  const [algorithm, kmsKeyId] = [parameters.get('sse'), parameters.get('sse-key')]
  if (algorithm === null && kmsKeyId === null) return {}
  if (algorithm === null || !encryptions.has(algorithm))
    throw new StartError(`sse of the bucket is one of ${[...encryptions].join(', ')}`)
  if (kmsKeyId !== null && algorithm === 'AES256')
    throw new StartError('sse-key of the bucket goes with sse=aws:kms')
  return {
    'x-amz-server-side-encryption': algorithm,
    ...(kmsKeyId === null ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': kmsKeyId }),
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}
