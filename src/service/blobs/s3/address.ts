// Where a bucket is, and who we are to it. Keys are in no argument: they come from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, or from the file that AWS_SHARED_CREDENTIALS_FILE names (~/.aws/credentials where it names none).

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../../start-error.ts'

export interface S3Address {
  /** `s3://BUCKET[/PREFIX]?endpoint=URL&region=REGION`; AWS's own endpoint where none is given. */
  readonly url: string
  /** Whoever downloads is sent to the bucket itself, which has to be reachable for them under the same endpoint. */
  readonly isDirect?: boolean
}

export interface Bucket {
  /** Of the bucket, with a slash at its end: the bucket is part of the path. */
  readonly base: string
  /** Before every key; empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
}

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
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Throws a StartError where there are none. */
export async function findCredentials(): Promise<Credentials> {
  const { env } = process
  const found = credentialsOf(
    env['AWS_ACCESS_KEY_ID'],
    env['AWS_SECRET_ACCESS_KEY'],
    env['AWS_SESSION_TOKEN'],
  )
  if (found !== undefined) return found
  const file = env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(homedir(), '.aws', 'credentials')
  const text = await readFile(file, 'utf8').catch(() => '')
  const section = sectionOf(text, env['AWS_PROFILE'] ?? 'default')
  const inFile = credentialsOf(
    section.get('aws_access_key_id'),
    section.get('aws_secret_access_key'),
    section.get('aws_session_token'),
  )
  if (inFile !== undefined) return inFile
  throw new StartError(
    'the key of the bucket is missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE',
  )
}

function credentialsOf(id?: string, secret?: string, token?: string): Credentials | undefined {
  if (id === undefined || id === '' || secret === undefined || secret === '') return undefined
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(token === undefined || token === '' ? {} : { sessionToken: token }),
  }
}

function sectionOf(text: string, name: string): Map<string, string> {
  const values = new Map<string, string>()
  let section = ''
  for (const line of text.split('\n')) {
    section = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1] ?? section
    const [, key, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (section === name && key !== undefined && value !== undefined) values.set(key, value)
  }
  return values
}
