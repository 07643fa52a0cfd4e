// From the body of an upload to bytes: whichever of the three kinds it is (interface, "Document").

import type { Readable } from 'node:stream'
import { Readable as ReadableStream } from 'node:stream'
import type { StagedBlob } from '../blobs/backend.ts'
import { stateOf } from '../blobs/intact.ts'
import type { ServiceContext } from '../context.ts'
import { parseLink } from '../downloads/signer.ts'
import type { DocumentBody, PartFileBody } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import type { ChangeArgument, ChangeResult } from '../store/changes.ts'
import { findById } from '../store/nodes.ts'
import { Base64Decoder } from './base64-decoder.ts'
import { fetchUri } from './fetch-uri.ts'
import { type StoredPart, writeMultipart } from './multipart.ts'
import type { Staging } from './staging.ts'

/** Bytes that wait for a row: staged by this upload, or here already because the uri was one of our own. */
export type ReceivedContent =
  | { readonly kind: 'staged'; readonly blob: StagedBlob; readonly sha256: string; readonly size: number }
  | { readonly kind: 'stored'; readonly sha256: string; readonly size: number }

/** Throws ServiceError 400 when `file` is not what `file_type` says or cannot be had, 413 where it has too many parts. */
export async function receiveContent(
  context: ServiceContext,
  document: DocumentBody,
  staging: Staging,
): Promise<ReceivedContent> {
  if (document.file_type === 'multipart') {
    if (typeof document.file === 'string')
      throw new ServiceError(400, 'file_type is multipart: file must be an array of parts')
    // Those of text alone were not staged while they came.
    staging.checkParts(document.file.length)
    const writer = staging.stageWhole()
    await writeMultipart(partsOf(context, document.file, staging), writer)
    return staged(await writer.finish())
  }
  if (typeof document.file !== 'string') {
    throw new ServiceError(400, `file_type is ${document.file_type}: file must be a string`)
  }
  return receiveFile(context, document.file_type, document.file, staging)
}

/** Makes the bytes durable together with the file that refers to them. */
export async function commitFile(
  context: ServiceContext,
  content: ReceivedContent,
  file: ChangeArgument<'createFile'>,
): Promise<ChangeResult<'createFile'>> {
  return content.kind === 'staged'
    ? context.blobs.commitFile(content.blob, file)
    : keepContent(context, content, () => context.commits.run('createFile', file))
}

/** Runs `record` once the bytes are durable; it adds the row that refers to them in a transaction of its own. */
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
  context: ServiceContext,
  parts: readonly { readonly text?: string; readonly file?: PartFileBody }[],
  staging: Staging,
): AsyncGenerator<StoredPart> {
  for (const part of parts) {
    if (part.text !== undefined) yield { kind: 'text', text: part.text }
    if (part.file === undefined) continue
    const content = await receiveFile(context, part.file.file_type, part.file.content, staging)
    yield { kind: 'file', mimetype: part.file.mimetype, content: await read(context, content) }
  }
}

async function receiveFile(
  context: ServiceContext,
  fileType: 'uri' | 'binary',
  text: string,
  staging: Staging,
): Promise<ReceivedContent> {
  const spooled = staging.find(text)
  if (fileType === 'uri') {
    if (spooled !== undefined || !URL.canParse(text))
      throw new ServiceError(400, 'file_type is uri: file is not a URL')
    return receiveUri(context, new URL(text), staging)
  }
  if (spooled !== undefined) return staged(spooled)
  const raw = Buffer.from(JSON.stringify(text).slice(1, -1))
  const decoder = new Base64Decoder(staging.stage(), raw.byteLength)
  await decoder.write(raw)
  return staged(await decoder.finish())
}

/** Our own presigned URLs are read from where they lead, with no request to ourselves; others are fetched. */
async function receiveUri(context: ServiceContext, url: URL, staging: Staging): Promise<ReceivedContent> {
  const link = parseLink(url)
  const validity = link === undefined ? undefined : context.signer.check(link, context.now())
  // A forged link may be somebody else's service: it is fetched like any other address, under the same rules.
  if (link !== undefined && validity !== 'forged') {
    if (validity === 'expired') throw new ServiceError(400, 'the uri has expired')
    const node = await findById(context.store, link.nodeId)
    if (typeof node?.blob !== 'string')
      throw new ServiceError(400, 'the uri leads to a document that is gone')
    const content = { sha256: node.blob, size: node.size ?? 0 }
    const state = await stateOf(content, (start, end) => context.blobs.open(content.sha256, start, end))
    if (state === 'damaged') {
      context.log.error({ path: node.path, sha256: content.sha256 }, 'a content is damaged')
      throw new ServiceError(500, `the content of ${node.path} is damaged: store that document again`)
    }
    return { kind: 'stored', ...content }
  }
  const writer = staging.stage()
  await fetchUri(url, writer, context.uriPolicy)
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
