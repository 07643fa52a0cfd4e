// One round over all pins: surveys their documents, counts those on this machine, and fetches the others while the service is
// reachable. Changes nothing but the disk cache and the figures of the pins.

import { diskBytesOf } from '../../content/disk/disk-bytes.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { isKeepable } from '../../content/read/fetch-whole.ts'
import { fetchDocuments, type FetchSources } from './fetch-documents.ts'
import type { PinFigures } from './pin-figures.ts'
import type { Setbacks } from './setbacks.ts'
import { reasonOf, survey, type FoundDocument, type Survey } from './survey.ts'

export interface RoundOptions extends FetchSources {
  readonly reach: Reach
  readonly signal: AbortSignal
  readonly setbacks: Setbacks
  /** Returns true when another round is due: no further document is started. */
  readonly isOver: () => boolean
}

export interface RoundOutcome {
  /** Number of folders surveyed. */
  readonly folders: number
  /** True if a folder could not be listed. */
  readonly hasFailed: boolean
  /** Time until the first failed document may be tried again (ms from now); Infinity if there is none. */
  readonly againInMs: number
  /** True if documents were left for the next round, since that was due. */
  readonly isCutShort: boolean
}

/** A document that is not whole on this machine. */
interface Missing {
  readonly document: FoundDocument
  readonly figures: PinFigures
  /** Bytes on disk that are still to be fetched. */
  readonly needBytes: number
}

/** After so many failures in a row the round ends: single documents are not the cause. */
const mostFailuresInARow = 8

/** Does one round. Throws the signal's reason. */
export async function pinRound(pins: readonly PinFigures[], options: RoundOptions): Promise<RoundOutcome> {
  // Only files listed before the survey may be removed: a document that is saved during the survey may be missing from it.
  const files = await options.reader.disk.pinnedFiles()
  const surveys: (Survey | undefined)[] = []
  for (const pin of pins) surveys.push(await surveyPin(pin, options))
  const documents = surveys.flatMap((found) => found?.documents ?? [])
  // If `all` documents are known, the cache may evict the files of all others; else only older versions of known ones.
  await options.reader.disk.keepPinned(versionsOf(documents), {
    files,
    all: surveys.every((found) => found?.problems.length === 0),
  })
  const missing: Missing[] = []
  const counted = new Set<string>()
  for (const [at, pin] of pins.entries())
    missing.push(...(await count(pin, surveys[at], { ...options, counted })))
  const fetched = await fetchMissing(missing, options)
  return {
    ...fetched,
    folders: surveys.reduce((sum, found) => sum + (found?.folders ?? 0), 0),
    hasFailed: pins.some(({ isPartlyUnknown }) => isPartlyUnknown),
  }
}

function* versionsOf(documents: readonly FoundDocument[]) {
  for (const { version } of documents) if (version !== undefined) yield version
}

/** Surveys one pin; undefined if that fails. */
async function surveyPin(
  pin: PinFigures,
  { tree, reach, signal }: RoundOptions,
): Promise<Survey | undefined> {
  try {
    return await survey(tree, pin.path, signal)
  } catch (error) {
    signal.throwIfAborted()
    if ((error as { code?: unknown }).code === 'ENOENT') {
      pin.nothingThere()
      // The documents kept for it are not needed any more.
      return { documents: [], folders: 0, problems: [] }
    }
    pin.notKnown(reach.isAway ? 'the service is away' : reasonOf(error))
    return undefined
  }
}

async function count(
  pin: PinFigures,
  found: Survey | undefined,
  { reader, reach, counted }: RoundOptions & { counted: Set<string> },
): Promise<readonly Missing[]> {
  // Without a document or a folder nothing has the pin's name: `nothingThere` has been noted.
  if (found === undefined || found.documents.length + found.folders === 0) return []
  const missing: Missing[] = []
  pin.begin(found.problems)
  for (const document of found.documents) {
    const { version, path, bytes } = document
    // A document that lies in two pins is fetched by one of them.
    const isFirst = !counted.has(path)
    counted.add(path)
    const mayBeKept = version !== undefined && isKeepable(version)
    const here = mayBeKept ? await reader.disk.bytesInPlace(version, version.size) : bytes
    const isHere = version === undefined || (mayBeKept && here === version.size)
    pin.found(bytes, isHere || mayBeKept ? here : 0, {
      isHere,
      needBytes: mayBeKept && isFirst ? diskBytesOf(bytes) : 0,
    })
    if (!isHere && isFirst)
      missing.push({ document, figures: pin, needBytes: mayBeKept ? diskBytesOf(bytes - here) : 0 })
  }
  pin.counted({ isAway: reach.isAway })
  return missing
}

/** Fetches the missing documents that fit, in order. Notes a problem for those that do not fit, or may not be tried yet. */
async function fetchMissing(
  missing: readonly Missing[],
  options: RoundOptions,
): Promise<Pick<RoundOutcome, 'isCutShort' | 'againInMs'>> {
  const { reach, reader, setbacks, signal, isOver } = options
  if (missing.length === 0 || reach.isAway) return { isCutShort: false, againInMs: Infinity }
  const { pinned, pinSizeBytes } = await reader.disk.amount()
  let freeBytes = pinSizeBytes - pinned.bytes
  let againInMs = Infinity
  const figuresOf = new Map<FoundDocument, PinFigures>()
  for (const { document, figures, needBytes } of missing) {
    const setback = setbacks.against(document)
    if (setback !== undefined) {
      figures.cannotBeHad(setback.problem)
      againInMs = Math.min(againInMs, setback.forMs)
    } else if (needBytes > freeBytes) figures.doesNotFit(document.path)
    else {
      freeBytes -= needBytes
      figuresOf.set(document, figures)
    }
  }
  let tried = 0
  let failuresInARow = 0
  const isHopeless = (): boolean => reach.isAway || failuresInARow >= mostFailuresInARow
  await fetchDocuments(options, [...figuresOf.keys()], {
    signal,
    isOver: () => isOver() || isHopeless(),
    onKept: (document, bytes) => figuresOf.get(document)?.kept(bytes),
    onFetched: ({ document, problem }) => {
      const figures = figuresOf.get(document)
      tried++
      if (problem === undefined) {
        failuresInARow = 0
        setbacks.succeeded(document)
        figures?.documentArrived()
      } else {
        failuresInARow++
        // The document is not the cause if the service went away.
        if (!reach.isAway) againInMs = Math.min(againInMs, setbacks.failed(document, problem))
        figures?.cannotBeHad(problem)
      }
    },
  })
  for (const { figures } of missing) figures.roundEnded({ isAway: reach.isAway })
  return { isCutShort: tried < figuresOf.size && !isHopeless(), againInMs }
}
