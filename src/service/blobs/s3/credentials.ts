// Credentials for a bucket, looked for in the order of AWS's own programs: variables, a web identity (EKS), the shared file, the
// container's role (ECS, EKS Pod Identity), the machine's role (EC2). Those of a role expire, and are asked for again in time.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '../../../parse-json.ts'
import { StartError } from '../../start-error.ts'
import { valueOf } from './lists.ts'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Epoch milliseconds; absent for those that stay. */
  readonly expiresAt?: number
}

export interface CredentialSource {
  /** Those that are valid now. Throws where a role's cannot be had. */
  get(): Promise<Credentials>
  /** The store says that they are no more. */
  forget(): void
  /** There may be others a moment later. */
  readonly areOfRole: boolean
}

type Environment = NodeJS.ProcessEnv
type Fetch = (env: Environment) => Promise<Credentials>

/** A role's are asked for again so long before they expire. */
const aheadMs = 5 * 60_000
/** Time to wait for a source of credentials: it is on this machine or near it. */
const answerMs = 5_000
const containerHost = 'http://169.254.170.2'
const machineHost = 'http://169.254.169.254'
/** Hosts that may give a container its credentials over HTTP without TLS; at any other, a stranger could listen. */
const containerHosts: ReadonlySet<string> = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])

/** `region`: of the bucket. Throws a StartError where there are none. */
export async function findCredentials(
  region: string,
  env: Environment = process.env,
): Promise<CredentialSource> {
  const own = credentialsOf(env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN'])
  if (own !== undefined) return staying(own)
  const fetchWeb: Fetch = (of) => fromWebIdentity(of, region)
  if (has(env, 'AWS_WEB_IDENTITY_TOKEN_FILE') && has(env, 'AWS_ROLE_ARN')) return ofRole(fetchWeb, env)
  const inFile = await fromFile(env)
  if (inFile !== undefined) return staying(inFile)
  if (has(env, 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI') || has(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI'))
    return ofRole(fromContainer, env)
  if (env['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') throw noKey()
  return ofRole(fromMachine, env).catch((error: unknown) => {
    throw noKey(error)
  })
}

function noKey(cause?: unknown): StartError {
  return new StartError(
    'the key of the bucket is missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE, or give this machine or pod a role',
    { cause },
  )
}

function has(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== ''
}

function staying(credentials: Credentials): CredentialSource {
  return { get: () => Promise.resolve(credentials), forget: () => undefined, areOfRole: false }
}

async function ofRole(fetchThem: Fetch, env: Environment): Promise<CredentialSource> {
  const source = new RoleCredentials(() => fetchThem(env))
  await source.get().catch((error: unknown) => {
    throw new StartError(`the role gives no key of the bucket: ${reasonOf(error)}`, { cause: error })
  })
  return source
}

class RoleCredentials implements CredentialSource {
  readonly areOfRole = true
  readonly #fetch: () => Promise<Credentials>
  #known: Credentials | undefined
  #asking: Promise<Credentials> | undefined

  constructor(fetchThem: () => Promise<Credentials>) {
    this.#fetch = fetchThem
  }

  async get(): Promise<Credentials> {
    const { expiresAt = Infinity } = this.#known ?? { expiresAt: 0 }
    if (this.#known !== undefined && Date.now() < expiresAt - aheadMs) return this.#known
    this.#asking ??= this.#fetch().finally(() => (this.#asking = undefined))
    try {
      return (this.#known = await this.#asking)
    } catch (error) {
      // The old ones may still be good for some minutes.
      if (this.#known !== undefined && Date.now() < expiresAt) return this.#known
      throw error
    }
  }

  forget(): void {
    this.#known = undefined
  }
}

async function fromFile(env: Environment): Promise<Credentials | undefined> {
  const file = env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(homedir(), '.aws', 'credentials')
  const text = await readFile(file, 'utf8').catch(() => '')
  const section = sectionOf(text, env['AWS_PROFILE'] ?? 'default')
  return credentialsOf(
    section.get('aws_access_key_id'),
    section.get('aws_secret_access_key'),
    section.get('aws_session_token'),
  )
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

/** The token is a secret: it goes into the body, and no message repeats it. */
async function fromWebIdentity(env: Environment, region: string): Promise<Credentials> {
  const token = (await readFile(env['AWS_WEB_IDENTITY_TOKEN_FILE'] ?? '', 'utf8')).trim()
  const answer = await ask(env['AWS_ENDPOINT_URL_STS'] ?? `https://sts.${region}.amazonaws.com/`, {
    method: 'POST',
    body: new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: env['AWS_ROLE_ARN'] ?? '',
      RoleSessionName: env['AWS_ROLE_SESSION_NAME'] ?? 'docmount',
      WebIdentityToken: token,
    }),
  })
  return checked({
    AccessKeyId: valueOf(answer, 'AccessKeyId'),
    SecretAccessKey: valueOf(answer, 'SecretAccessKey'),
    Token: valueOf(answer, 'SessionToken'),
    Expiration: valueOf(answer, 'Expiration'),
  })
}

async function fromContainer(env: Environment): Promise<Credentials> {
  const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'] ?? ''
  const url = new URL(
    relative === '' ? (env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] ?? '') : containerHost + relative,
  )
  const isBeside =
    url.protocol === 'https:' ||
    containerHosts.has(url.hostname) ||
    /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (!isBeside) throw new Error('AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine')
  const tokenFile = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'] ?? ''
  const token =
    tokenFile === '' ? env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] : (await readFile(tokenFile, 'utf8')).trim()
  const headers: Record<string, string> = token === undefined ? {} : { authorization: token }
  return checked(parseJson(await ask(url.href, { headers })))
}

/** The second version of that service: with a token, which a forwarded request cannot get. */
async function fromMachine(env: Environment): Promise<Credentials> {
  const base = (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? machineHost).replace(/\/+$/, '')
  const token = await ask(`${base}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  })
  const headers = { 'x-aws-ec2-metadata-token': token }
  const roles = `${base}/latest/meta-data/iam/security-credentials/`
  const [role = ''] = (await ask(roles, { headers })).split('\n')
  return checked(parseJson(await ask(roles + encodeURIComponent(role.trim()), { headers })))
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(answerMs) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`)
  return text
}

function checked(answer: unknown): Credentials {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = (answer ?? {}) as Readonly<
    Record<string, string | undefined>
  >
  const found = credentialsOf(AccessKeyId, SecretAccessKey, Token)
  if (found === undefined) throw new Error('the answer holds no key')
  const expiresAt = Date.parse(Expiration ?? '')
  return Number.isNaN(expiresAt) ? found : { ...found, expiresAt }
}

function credentialsOf(id?: string, secret?: string, token?: string): Credentials | undefined {
  if (id === undefined || id === '' || secret === undefined || secret === '') return undefined
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(token === undefined || token === '' ? {} : { sessionToken: token }),
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
