// Receives the content of an upload, of any of its three kinds: `binary`, `uri`, `multipart` (interface, "Document").

import type { Readable } from 'node:stream'
import { Readable as ReadableStream } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { StagedBlob } from '../blobs/backend.ts'
import { damagedDocument, stateOf } from '../blobs/intact.ts'
import type { ServiceContext } from '../context.ts'
import { parseLink } from '../downloads/signer.ts'
import type { DocumentBody, PartFileBody } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import type { ChangeArgument, ChangeResult } from '../store/changes.ts'
import { findById } from '../store/nodes.ts'
import { projectNameOf } from '../store/projects.ts'
import { Base64Decoder } from './base64-decoder.ts'
import { fetchUri } from './fetch-uri.ts'
import { type StoredPart, writeMultipart } from './multipart.ts'
import type { OwnAddress } from './private-addresses.ts'
import type { Staging } from './staging.ts'

/** A content that has no row yet: staged by this upload, or stored already if the uri was one of our own links. */
export type ReceivedContent =
  | { readonly kind: 'staged'; readonly blob: StagedBlob; readonly sha256: string; readonly size: number }
  | { readonly kind: 'stored'; readonly sha256: string; readonly size: number }

/**
 * Sources of contents by `uri`, for the audit log: PROJECT/PATH of a document of this service, else the origin of the
 * URL, for the rest of it may be a secret.
 */
export type Sources = readonly string[]

/**
 * Returns the content, and its sources. Throws ServiceError 400 when `file` does not fit `file_type` or cannot be fetched, 401
 * where the key was revoked meanwhile, 413 where it has too many parts.
 */
export async function receiveContent(
  context: ServiceContext,
  request: FastifyRequest,
  document: DocumentBody,
): Promise<ReceivedContent & { readonly sources: Sources }> {
  const upload: Upload = {
    context,
    staging: request.staging,
    own: { host: new URL(context.edge.originOf(request)).host, port: request.raw.socket.localPort },
    sources: new Set(),
  }
  const content = await receiveDocument(upload, document)
  // The key may have been revoked during a long fetch.
  if (upload.sources.size > 0) await request.checkKey()
  return { ...content, sources: [...upload.sources] }
}

/** Fields for the line of the audit log: none where no uri was used. */
export function copiedFrom(sources: Sources): object {
  return sources.length === 0 ? {} : { copied_from: sources }
}

/** One upload under way. */
interface Upload {
  readonly context: ServiceContext
  readonly staging: Staging
  readonly own: OwnAddress
  readonly sources: Set<string>
}

async function receiveDocument(upload: Upload, document: DocumentBody): Promise<ReceivedContent> {
  const { staging } = upload
  if (document.file_type === 'multipart') {
    if (typeof document.file === 'string')
      throw new ServiceError(400, 'file_type is multipart: file must be an array of parts')
    // All parts are counted here; `Staging` has counted those in base64 while it parsed.
    staging.checkParts(document.file.length)
    const writer = staging.stageDocument()
    await writeMultipart(partsOf(upload, document.file), writer)
    return staged(await writer.finish())
  }
  if (typeof document.file !== 'string') {
    throw new ServiceError(400, `file_type is ${document.file_type}: file must be a string`)
  }
  return receiveFile(upload, document.file_type, document.file)
}

/** Makes the content, and the file that refers to it, durable in one transaction. */
export async function commitFile(
  context: ServiceContext,
  content: ReceivedContent,
  file: ChangeArgument<'createFile'>,
): Promise<ChangeResult<'createFile'>> {
  return content.kind === 'staged'
    ? context.blobs.commitFile(content.blob, file)
    : keepContent(context, content, () => context.commits.run('createFile', file))
}

/** Makes the content durable, then runs `record`, which adds the row that refers to it in another transaction. */
export async function keepContent<Result>(
  context: ServiceContext,
  content: ReceivedContent,
  record: () => Promise<Result>,
): Promise<Result> {
  if (content.kind === 'staged') return context.blobs.keep(content.blob, record)
  const kept = await context.blobs.share(content.sha256, record)
  if (kept === undefined) throw new ServiceError(400, 'the uri leads to a document that is gone')
  return kept
}

async function* partsOf(
  upload: Upload,
  parts: readonly { readonly text?: string; readonly file?: PartFileBody }[],
): AsyncGenerator<StoredPart> {
  // Counted before the first is fetched, so that too many fail before any request.
  for (const { file } of parts) if (file?.file_type === 'uri') upload.staging.addUriPart()
  for (const part of parts) {
    if (part.text !== undefined) yield { kind: 'text', text: part.text }
    if (part.file === undefined) continue
    const content = await receiveFile(upload, part.file.file_type, part.file.content)
    yield { kind: 'file', mimetype: part.file.mimetype, content: await read(upload.context, content) }
  }
}

async function receiveFile(
  upload: Upload,
  fileType: 'uri' | 'binary',
  text: string,
): Promise<ReceivedContent> {
  const { staging } = upload
  // Long base64 was staged while the request was parsed: `text` is a placeholder for it.
  const spooled = staging.blobOf(text)
  if (fileType === 'uri') {
    if (spooled !== undefined || !URL.canParse(text))
      throw new ServiceError(400, 'file_type is uri: file is not a URL')
    return receiveUri(upload, new URL(text))
  }
  if (spooled !== undefined) return staged(spooled)
  // The decoder takes the bytes of a JSON string as they are sent, escapes included.
  const raw = Buffer.from(JSON.stringify(text).slice(1, -1))
  const decoder = new Base64Decoder(staging.stage(), raw.byteLength)
  await decoder.write(raw)
  return staged(await decoder.finish())
}

/** Looks up the document of our own presigned URLs, with no request to ourselves; fetches other URLs. */
async function receiveUri({ context, staging, own, sources }: Upload, url: URL): Promise<ReceivedContent> {
  const signal = staging.fetchSignal(context.uriPolicy.totalMs)
  if (signal.aborted) throw new ServiceError(400, 'what the uris lead to takes too long')
  const link = parseLink(url)
  const validity = link === undefined ? undefined : context.signer.check(link, context.now())
  // A link with a wrong signature may be of another service: it is fetched like any other URL, under the same rules.
  if (link !== undefined && validity !== 'forged') {
    if (validity === 'expired') throw new ServiceError(400, 'the uri has expired')
    const node = await findById(context.store, link.nodeId)
    if (typeof node?.blob !== 'string')
      throw new ServiceError(400, 'the uri leads to a document that is gone')
    const content = { sha256: node.blob, size: node.size ?? 0 }
    const state = await stateOf(content, (start, end) => context.blobs.open(content.sha256, start, end))
    // A missing content is left to `keepContent` and `read`.
    if (state === 'damaged') {
      context.log.error({ path: node.path, sha256: content.sha256 }, 'a content is damaged')
      throw damagedDocument(node.path)
    }
    const project = await projectNameOf(context.store, node.project_id)
    sources.add(`${project ?? node.project_id}${node.path}`)
    return { kind: 'stored', ...content }
  }
  const writer = staging.stage()
  await fetchUri(url, writer, { ...context.uriPolicy, signal, own })
  sources.add(url.origin)
  return staged(await writer.finish())
}

async function read(context: ServiceContext, content: ReceivedContent): Promise<Readable> {
  if (content.kind === 'staged') return content.blob.stream()
  if (content.size === 0) return ReadableStream.from([])
  const stored = await context.blobs.open(content.sha256, 0, content.size - 1)
  if (stored === undefined) throw new ServiceError(400, 'the uri leads to a document that is gone')
  return stored
}

function staged(blob: StagedBlob): ReceivedContent {
  return { kind: 'staged', blob, sha256: blob.sha256, size: blob.size }
}
