// Credentials for a bucket, from the same sources and in the same order as AWS's programs: environment variables, a web identity
// (EKS), the shared file, the container's role (ECS, EKS Pod Identity), the machine's role (EC2). A role's credentials expire,
// and are fetched again before that.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '../../../parse-json.ts'
import { StartError } from '../../start-error.ts'
import { valueOf } from './xml.ts'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Epoch milliseconds; absent for credentials that do not expire. */
  readonly expiresAt?: number
}

export interface CredentialSource {
  /** Returns credentials that are valid now. Throws where a role's cannot be fetched. */
  get(): Promise<Credentials>
  /** Call it when the store refuses the credentials; the next `get` fetches new ones. */
  forget(): void
  /** True for a role's credentials: `get` returns new ones after `forget`. */
  readonly isRenewable: boolean
}

type Environment = NodeJS.ProcessEnv
type Fetch = (env: Environment) => Promise<Credentials>

/** Time before their expiry at which a role's credentials are fetched again. */
const aheadMs = 5 * 60_000
/** Time to wait for a source of credentials, which is on this machine or near it. */
const answerMs = 5_000
const containerHost = 'http://169.254.170.2'
const machineHost = 'http://169.254.169.254'
/** Hosts that a container may ask for its credentials without TLS; requests to others could be read on their way. */
const containerHosts: ReadonlySet<string> = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])

/** `region` of the bucket. Throws a StartError where no source has credentials. */
export async function findCredentials(
  region: string,
  env: Environment = process.env,
): Promise<CredentialSource> {
  const own = credentialsOf(env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN'])
  if (own !== undefined) return permanent(own)
  const fetchWeb: Fetch = (of) => fromWebIdentity(of, region)
  if (has(env, 'AWS_WEB_IDENTITY_TOKEN_FILE') && has(env, 'AWS_ROLE_ARN')) return renewable(fetchWeb, env)
  const inFile = await fromFile(env)
  if (inFile !== undefined) return permanent(inFile)
  if (has(env, 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI') || has(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI'))
    return renewable(fromContainer, env)
  if (env['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') throw noCredentials()
  return renewable(fromMachine, env).catch((error: unknown) => {
    throw noCredentials(error)
  })
}

function noCredentials(cause?: unknown): StartError {
  return new StartError(
    'the key of the bucket is missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE, or give this machine or pod a role',
    { cause },
  )
}

function has(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== ''
}

function permanent(credentials: Credentials): CredentialSource {
  return { get: () => Promise.resolve(credentials), forget: () => undefined, isRenewable: false }
}

async function renewable(fetchThem: Fetch, env: Environment): Promise<CredentialSource> {
  const source = new RoleCredentials(() => fetchThem(env))
  await source.get().catch((error: unknown) => {
    throw new StartError(`the role gives no key of the bucket: ${reasonOf(error)}`, { cause: error })
  })
  return source
}

class RoleCredentials implements CredentialSource {
  readonly isRenewable = true
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
      // The known credentials are valid for some more minutes.
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

/** The token is a secret: it is sent in the body, and no error message contains it. */
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
  return parseCredentials({
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
  return parseCredentials(parseJson(await ask(url.href, { headers })))
}

/** Uses version 2 of EC2's metadata service (IMDSv2): its session token protects against forwarded requests. */
async function fromMachine(env: Environment): Promise<Credentials> {
  const base = (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? machineHost).replace(/\/+$/, '')
  const token = await ask(`${base}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  })
  const headers = { 'x-aws-ec2-metadata-token': token }
  const roles = `${base}/latest/meta-data/iam/security-credentials/`
  const [role = ''] = (await ask(roles, { headers })).split('\n')
  return parseCredentials(parseJson(await ask(roles + encodeURIComponent(role.trim()), { headers })))
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(answerMs) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`)
  return text
}

function parseCredentials(answer: unknown): Credentials {
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
