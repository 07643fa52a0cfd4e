// Fetches documents whole, a few at a time, behind whatever readers want. One that cannot be had costs itself only.

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

/** How one document fared. `fetchedBytes` came through the network. */
export interface Fetched {
  readonly document: FoundDocument
  readonly fetchedBytes: number
  /** A sentence, where it is not here. */
  readonly problem: string | undefined
}

export interface FetchDocumentsOptions {
  readonly signal: AbortSignal
  /** True when no further document is to be begun. */
  readonly isOver?: () => boolean
  readonly onKept: (document: FoundDocument, bytes: number) => void
  readonly onFetched: (fetched: Fetched) => void
}

/** Small documents cost a round trip each: several at once. */
const atOnce = 4

/** Throws the signal's reason. */
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
  await Promise.all(Array.from({ length: atOnce }, work))
}

async function fetchOne(
  { tree, reader, urls }: FetchSources,
  document: FoundDocument,
  { signal, onKept }: FetchDocumentsOptions,
): Promise<Fetched> {
  const { path, version, record, askedAt } = document
  if (version === undefined) return { document, fetchedBytes: 0, problem: undefined }
  if (!isKeepable(version)) return { document, fetchedBytes: 0, problem: notTold(path) }
  if (record !== undefined) urls.remember(version.path, record, askedAt)
  try {
    const fetchedBytes = await reader.fetchWhole(version, {
      signal,
      onKept: (bytes) => onKept(document, bytes),
    })
    return { document, fetchedBytes, problem: undefined }
  } catch (error) {
    signal.throwIfAborted()
    // Another version by now: the next look shows it.
    if ((error as { code?: unknown }).code === 'ESTALE') await tree.look(path)
    return { document, fetchedBytes: 0, problem: `${path}: ${reasonOf(error)}` }
  }
}

function notTold(path: string): string {
  return `${path}: the service does not tell its size, or when it was changed, so that no copy of it can be kept`
}
