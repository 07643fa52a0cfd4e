// Read-ahead: a pure state machine, one state per handle, decides how far ahead to fetch. No bytes, no I/O, no time.
//
//            read at 0                reads on past the first window
//   (new) ───────────────▶ probing ───────────────────────────────▶ streaming ◀─┐ had to wait: window grows
//     │                       │                                        │  └─────┘
//     │ read elsewhere        │ reads elsewhere                        │ reads elsewhere
//     └──────▶ random ◀───────┴────────────────────────────────────────┘
//                 └─ reads on for two blocks ─▶ streaming
//
// A reader that jumps forwards by less than a block still counts as reading on, since it needs every block.

import { blockSizeBytes } from '../extent.ts'
import type { Extent } from '../extent.ts'

/** The state of a handle, derived from its reads so far. */
export interface ReadAheadState {
  /** Offset at which the present sequential run began. */
  readonly runStart: number
  /** One past the furthest byte read in this run. */
  readonly frontier: number
  /** A part of the run that was skipped by a READ which overtook another; that one is still expected. */
  readonly hole: Extent | undefined
  /** Bytes to have ahead of the frontier; 0 = random. More may be requested, but is not received yet. */
  readonly windowBytes: number
  /** One past the last byte requested ahead. */
  readonly aheadEnd: number
}

/**
 * State in which a read found its bytes:
 * - `ready`: in memory.
 * - `flowing`: being received: the reader is as fast as the network.
 * - `requested`: requested, but not being received yet: the request should have been made earlier.
 * - `missing`: not requested.
 */
export type Arrival = 'ready' | 'flowing' | 'requested' | 'missing'

export interface ReadAheadLimits {
  readonly sizeBytes: number
  /** The largest window this handle may have now. */
  readonly maxWindowBytes: number
}

export interface ReadAheadStep {
  readonly state: ReadAheadState
  /** The bytes to fetch ahead now, beyond the read itself. */
  readonly ahead: Extent | undefined
  /** Bytes per request for `ahead`. */
  readonly requestBytes: number
  /** The reader jumped: blocks requested ahead before are not wanted any more. */
  readonly hasSought: boolean
}

/** Bytes in the first request of a reader that starts at the beginning. */
export const firstWindowBytes: number = 256 * 1024
/** The window of a reader that has read past the first window. */
const streamingWindowBytes = 2 * 1024 * 1024
/** Enough for large requests one after another. A larger window helps only against latency, and takes memory. */
const flowingWindowBytes = 24 * 1024 * 1024
/** Factor by which the window of a reader that has to wait grows. */
const growth = 4
/** A window is at most so many times the bytes read in this run, which bounds the bytes fetched in vain. */
const windowPerByteRead = 8
const minRequestBytes = 1024 * 1024
const maxRequestBytes = 16 * 1024 * 1024
/** Least size of a READ that may be the kernel's own read-ahead, whose READs may overtake each other. */
const overtakingBytes = 64 * 1024

/** Returns the state after one read, and the bytes to fetch ahead. `state` is undefined before a handle's first read. */
export function readAheadStep(
  state: ReadAheadState | undefined,
  read: Extent,
  arrival: Arrival,
  limits: ReadAheadLimits,
): ReadAheadStep {
  const end = read.offset + read.length
  if (state === undefined || !isInRun(state, read, arrival)) {
    return step(startRun(read, arrival, limits), end, limits, state !== undefined)
  }
  const advanced = advance(state, read)
  if (end <= state.frontier) return idle(advanced)
  const windowBytes = nextWindow(advanced, arrival, limits)
  // Requested before and missing now: it failed or was evicted, and everything after it may be missing, too.
  const aheadEnd = arrival === 'missing' ? end : Math.max(state.aheadEnd, advanced.frontier)
  return step({ ...advanced, windowBytes, aheadEnd }, aheadEnd, limits, false)
}

/** True where the read continues the run, or less than a block further, fills its hole, or repeats a part still in memory. */
function isInRun(state: ReadAheadState, read: Extent, arrival: Arrival): boolean {
  const end = read.offset + read.length
  if (read.offset < state.runStart) return false
  if (read.offset > state.frontier)
    return read.offset - state.frontier < blockSizeBytes || isOvertaking(state, read)
  return end > state.frontier || arrival !== 'missing' || read.offset === state.hole?.offset
}

/** True where the read has overtaken another, which is expected to fill the gap before it. */
function isOvertaking({ frontier, hole }: ReadAheadState, { offset, length }: Extent): boolean {
  const gapBytes = offset - frontier
  return hole === undefined && gapBytes > 0 && length >= overtakingBytes && gapBytes <= 2 * length
}

function startRun(read: Extent, arrival: Arrival, limits: ReadAheadLimits): ReadAheadState {
  const frontier = read.offset + read.length
  const isAtStart = read.offset < blockSizeBytes
  // If the bytes were prefetched, those were as many as such a reader needs.
  const wanted = arrival === 'missing' ? firstWindowBytes : Math.min(frontier, firstWindowBytes)
  const windowBytes = isAtStart ? Math.min(wanted, limits.maxWindowBytes) : 0
  return { runStart: read.offset, frontier, hole: undefined, windowBytes, aheadEnd: frontier }
}

function advance(state: ReadAheadState, read: Extent): ReadAheadState {
  const end = read.offset + read.length
  const hole = isOvertaking(state, read)
    ? { offset: state.frontier, length: read.offset - state.frontier }
    : state.hole
  const isFilled = hole !== undefined && read.offset <= hole.offset && end >= hole.offset + hole.length
  return { ...state, hole: isFilled ? undefined : hole, frontier: Math.max(state.frontier, end) }
}

function nextWindow(state: ReadAheadState, arrival: Arrival, limits: ReadAheadLimits): number {
  const read = state.frontier - state.runStart
  if (state.windowBytes >= streamingWindowBytes) {
    const { windowBytes } = state
    const grown = {
      ready: windowBytes,
      flowing: Math.max(windowBytes, Math.min(windowBytes * growth, flowingWindowBytes)),
      requested: windowBytes * growth,
      missing: windowBytes * growth,
    }[arrival]
    return Math.min(grown, read * windowPerByteRead, limits.maxWindowBytes)
  }
  if (read < firstWindowBytes) return state.windowBytes
  return Math.min(streamingWindowBytes, limits.maxWindowBytes)
}

/** Fills the window by whole requests, the last of which may reach beyond it; the first window is one request. */
function step(
  state: ReadAheadState,
  from: number,
  limits: ReadAheadLimits,
  hasSought: boolean,
): ReadAheadStep {
  const { windowBytes, runStart, frontier } = state
  const requestBytes = Math.min(maxRequestBytes, Math.max(minRequestBytes, windowBytes / 2))
  const isFirst = windowBytes <= firstWindowBytes
  const missing = (isFirst ? runStart : frontier) + windowBytes - from
  const asked = isFirst ? missing : Math.ceil(missing / requestBytes) * requestBytes
  const until = Math.min(limits.sizeBytes, from + asked)
  if (until <= from) return { ...idle(state), requestBytes, hasSought }
  return {
    state: { ...state, aheadEnd: until },
    ahead: { offset: from, length: until - from },
    requestBytes,
    hasSought,
  }
}

function idle(state: ReadAheadState): ReadAheadStep {
  return { state, ahead: undefined, requestBytes: minRequestBytes, hasSought: false }
}
