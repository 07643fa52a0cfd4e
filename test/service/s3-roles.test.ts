// Keys of a bucket that come from a role: asked for over HTTP, as each kind of machine gives them, and again before they expire.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findCredentials } from '../../src/service/blobs/s3/credentials.ts'
import { parseBucket } from '../../src/service/blobs/s3/address.ts'
import { S3Client } from '../../src/service/blobs/s3/client.ts'
import { S3Writer } from '../../src/service/blobs/s3/writer.ts'
import { StartError } from '../../src/service/start-error.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-roles-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()
const keyOf = (count: number, minutes: number): object => ({
  Code: 'Success',
  AccessKeyId: `id-${count}`,
  SecretAccessKey: `secret-${count}`,
  Token: `token-${count}`,
  Expiration: inMinutes(minutes),
})
const none = { AWS_SHARED_CREDENTIALS_FILE: '/nowhere' }

describe('the role of', () => {
  test('a machine is asked for with a token of its own', async () => {
    await using machine = await startRawServer((request, response) => {
      if (request.method === 'PUT') return void response.end('a-token')
      if (request.headers['x-aws-ec2-metadata-token'] !== 'a-token') return void response.writeHead(401).end()
      if (request.url!.endsWith('/security-credentials/')) return void response.end('the-role')
      answerJson(response, 200, keyOf(1, 60))
    })
    const source = await findCredentials('eu-central-1', {
      ...none,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: machine.origin,
    })
    expect(await source.get()).toMatchObject({
      accessKeyId: 'id-1',
      secretAccessKey: 'secret-1',
      sessionToken: 'token-1',
    })
    expect(machine.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/the-role',
    ])
  })

  test('a pod (EKS Pod Identity, ECS) is asked for with the token in its file', async () => {
    const tokenFile = join(folder, 'token')
    await writeFile(tokenFile, 'pod-token\n')
    await using agent = await startRawServer((request, response) =>
      request.headers.authorization === 'pod-token'
        ? answerJson(response, 200, keyOf(1, 60))
        : void response.writeHead(403).end(),
    )
    const source = await findCredentials('eu-central-1', {
      ...none,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.origin}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
    })
    expect((await source.get()).accessKeyId).toBe('id-1')
  })

  test('a service account (IRSA) is asked for with its token, which is in no URL', async () => {
    const tokenFile = join(folder, 'token')
    await writeFile(tokenFile, 'web-token')
    let asked = ''
    await using sts = await startRawServer((request, response) => {
      request.on('data', (chunk) => (asked += String(chunk)))
      request.on('end', () =>
        response.end(`<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
        <AccessKeyId>id-1</AccessKeyId><SecretAccessKey>a+/b==</SecretAccessKey><SessionToken>t</SessionToken>
        <Expiration>${inMinutes(60)}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`),
      )
    })
    const source = await findCredentials('eu-central-1', {
      ...none,
      AWS_ENDPOINT_URL_STS: sts.origin,
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/documents',
    })
    expect(await source.get()).toMatchObject({
      accessKeyId: 'id-1',
      secretAccessKey: 'a+/b==',
      sessionToken: 't',
    })
    expect(Object.fromEntries(new URLSearchParams(asked))).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: 'arn:aws:iam::1:role/documents',
      WebIdentityToken: 'web-token',
    })
    expect(sts.requests[0]!.url).toBe('/')
  })

  test('nothing at all is told in one sentence that says what to do', async () => {
    await using machine = await startRawServer((_, response) => void response.writeHead(404).end())
    const environment = { ...none, AWS_EC2_METADATA_SERVICE_ENDPOINT: machine.origin }
    await expect(findCredentials('r', environment)).rejects.toThrow(StartError)
    await expect(findCredentials('r', environment)).rejects.toThrow(/AWS_ACCESS_KEY_ID.*or pod a role/)
    await expect(findCredentials('r', { ...none, AWS_EC2_METADATA_DISABLED: 'true' })).rejects.toThrow(
      StartError,
    )
  })

  test('a stranger’s address is not asked', async () => {
    const environment = { ...none, AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://elsewhere.example/key' }
    await expect(findCredentials('r', environment)).rejects.toThrow(/neither https nor of this machine/)
  })
})

describe('a key that expires', () => {
  test('is replaced before that, once for all who ask; while no other is given it is used to its end', async () => {
    let isAway = false
    await using agent = await startRawServer((_, response, count) =>
      isAway
        ? void response.writeHead(500).end()
        : answerJson(response, 200, keyOf(count, count === 1 ? 4 : 60)),
    )
    const environment = { ...none, AWS_CONTAINER_CREDENTIALS_FULL_URI: agent.origin }
    const source = await findCredentials('r', environment)
    isAway = true
    expect((await source.get()).accessKeyId).toBe('id-1')
    isAway = false
    const before = agent.requests.length
    const keys = await Promise.all([source.get(), source.get(), source.get()])
    expect(new Set(keys.map(({ accessKeyId }) => accessKeyId)).size).toBe(1)
    expect(agent.requests.length).toBe(before + 1)
    await source.get()
    expect(agent.requests.length).toBe(before + 1)
  })

  test('that the bucket calls expired is asked for again, and the request with it', async () => {
    await using agent = await startRawServer((_, response, count) =>
      answerJson(response, 200, keyOf(count, 60)),
    )
    vi.stubEnv('AWS_ACCESS_KEY_ID', '')
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', agent.origin)
    const seen: unknown[] = []
    await using bucket = await startRawServer((request, response) => {
      seen.push(request.headers['x-amz-security-token'])
      if (seen.length > 1) return void response.end()
      response.writeHead(400).end('<Error><Code>ExpiredToken</Code></Error>')
    })
    const client = await S3Client.open({ url: `s3://b?endpoint=${bucket.origin}` }, Date.now)
    expect((await client.ask({ method: 'GET', key: 'some' })).status).toBe(200)
    expect(seen).toEqual(['token-1', 'token-2'])
  })
})

describe('encryption by the bucket', () => {
  const headersOfUpload = async (query: string, bytes: number): Promise<Record<string, unknown>[]> => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    await using bucket = await startRawServer((request, response) => {
      request.resume()
      request.on('end', () => response.end(request.url!.includes('uploads') ? '<UploadId>u</UploadId>' : ''))
    })
    const writer = new S3Writer(
      await S3Client.open({ url: `s3://b?endpoint=${bucket.origin}&${query}` }, Date.now),
    )
    await writer.write(Buffer.alloc(bytes))
    await writer.finish()
    return bucket.requests.map(({ method, headers }) => ({
      method,
      sse: headers['x-amz-server-side-encryption'],
      key: headers['x-amz-server-side-encryption-aws-kms-key-id'],
    }))
  }

  test('is asked for where an object begins, and only there', async () => {
    const [sse, key] = ['aws:kms', 'alias/documents']
    expect(await headersOfUpload('sse=aws:kms&sse-key=alias/documents', 10)).toEqual([
      { method: 'PUT', sse, key },
    ])
    expect(await headersOfUpload('sse=aws:kms&sse-key=alias/documents', 9 * 1024 * 1024)).toEqual([
      { method: 'POST', sse, key },
      { method: 'PUT', sse: undefined, key: undefined },
      { method: 'POST', sse: undefined, key: undefined },
    ])
    expect(await headersOfUpload('region=x', 10)).toEqual([{ method: 'PUT', sse: undefined, key: undefined }])
  })

  test('that nobody knows is refused', () => {
    expect(() => parseBucket({ url: 's3://b?sse=rot13' })).toThrow(/AES256, aws:kms/)
    expect(() => parseBucket({ url: 's3://b?sse=AES256&sse-key=k' })).toThrow(/sse-key/)
  })
})
