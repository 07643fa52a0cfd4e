// Fetches whole documents, a few at a time, after the reads of programs. A document that cannot be fetched does not stop the
// others.

import type { PresignedUrls } from '../../content/read/presigned-urls.ts'
import type { Reader } from '../../content/read/reader.ts'
import { isKeepable } from '../../content/read/fetch-whole.ts'
import type { Tree } from '../tree/tree.ts'
import { reasonOf, type FoundDocument } from './survey.ts'

export interface FetchSources {
  readonly tree: Tree
  readonly reader: Reader
  readonly urls: PresignedUrls
}

/** The outcome for one document. `fetchedBytes` came through the network. */
export interface Fetched {
  readonly document: FoundDocument
  readonly fetchedBytes: number
  /** The reason, in a sentence, why the document is not on this machine; undefined if it is. */
  readonly problem: string | undefined
}

export interface FetchDocumentsOptions {
  readonly signal: AbortSignal
  /** Returns true when no further document may be started. */
  readonly isOver?: () => boolean
  /** Called with each number of bytes that came for a document, and are in the disk cache. */
  readonly onKept: (document: FoundDocument, bytes: number) => void
  /** Called once for each document that was tried. */
  readonly onFetched: (fetched: Fetched) => void
}

/** Documents fetched at the same time: small ones cost a round trip each. */
const concurrency = 4

/** Fetches the documents in order, and reports each to `onFetched`. Throws the signal's reason. */
export async function fetchDocuments(
  sources: FetchSources,
  documents: readonly FoundDocument[],
  options: FetchDocumentsOptions,
): Promise<void> {
  const waiting = documents.values()
  const work = async (): Promise<void> => {
    for (const document of waiting) {
      options.signal.throwIfAborted()
      if (options.isOver?.() === true) return
      options.onFetched(await fetchOne(sources, document, options))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

async function fetchOne(
  { tree, reader, urls }: FetchSources,
  document: FoundDocument,
  { signal, onKept }: FetchDocumentsOptions,
): Promise<Fetched> {
  const { path, version, record, askedAt } = document
  if (version === undefined) return { document, fetchedBytes: 0, problem: undefined }
  if (!isKeepable(version)) return { document, fetchedBytes: 0, problem: sizeUnknown(path) }
  if (record !== undefined) urls.remember(version.path, record, askedAt)
  try {
    const fetchedBytes = await reader.fetchWhole(version, {
      signal,
      onKept: (bytes) => onKept(document, bytes),
    })
    return { document, fetchedBytes, problem: undefined }
  } catch (error) {
    signal.throwIfAborted()
    // The service has another version by now: the tree lists it anew for the next round.
    if ((error as { code?: unknown }).code === 'ESTALE') await tree.look(path)
    return { document, fetchedBytes: 0, problem: `${path}: ${reasonOf(error)}` }
  }
}

function sizeUnknown(path: string): string {
  return `${path}: the service does not tell its size, or when it was changed, so that no copy of it can be kept`
}
