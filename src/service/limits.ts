// Limits of the service. They are generous: ordinary work with documents reaches none of them. 0 is no limit.

import { availableParallelism } from 'node:os'

export interface Limits {
  /** Bytes of UTF-8 of one name in the path of an upload. */
  readonly nameBytes: number
  /** Bytes of UTF-8 of the path of an upload. */
  readonly pathBytes: number
  /** Names in the path of an upload. */
  readonly depth: number
  /** Bytes of a document. */
  readonly documentBytes: number
  /** Bytes and number of the documents of a project, those of its storage tables included. */
  readonly projectBytes: number
  readonly projectDocuments: number
  /** Parts of a multipart document, and how many of them may be a `uri`: such a part is small to send and large to store. */
  readonly parts: number
  readonly uriParts: number
  /** Bytes of a multipart document as it is stored. */
  readonly multipartBytes: number
  /** Milliseconds from the headers of a request until its body has arrived and the contents at its `uri`s are fetched. */
  readonly uploadMs: number
  /** Bytes of a JSON body, which the serving thread parses. The JSON around the content of a document may have 1 MiB. */
  readonly jsonBytes: number
  /** Runs and tasks are removed at this age, in milliseconds. */
  readonly keepRunsMs: number
  /** Nesting depth of objects and arrays in a JSON body. */
  readonly jsonDepth: number
  /** Values in a JSON body, and names in one object of it. */
  readonly jsonValues: number
  readonly jsonNames: number
  /** Least bytes per second of a request body, on the average of `bodyPeriodMs`. */
  readonly bodyBytesPerSecond: number
  readonly bodyPeriodMs: number
  /** Pipelined requests of one connection that are not answered yet. */
  readonly requestsPerConnection: number
  /** Open connections of one server. */
  readonly connections: number
  /** These two do not apply to addresses of this machine, where reverse proxies run. */
  readonly connectionsPerAddress: number
  readonly requestsPerSecondPerAddress: number
  /** This rate and the one above are averages of ten seconds. */
  readonly requestsPerSecondPerKey: number
  /** Concurrent requests of one key. */
  readonly requestsUnderWayPerKey: number
  /** Bytes of the JSON bodies of those requests; the parsed values may take twenty times the memory. */
  readonly jsonBytesUnderWayPerKey: number
  /** Concurrent reconciliations, each in a process of its own. One key never gets all of them. */
  readonly matchingThreads: number
  /** Heap bytes of one of these processes: its indexes and the run under way. */
  readonly matchingBytes: number
  /** Limits of single projects, by name; they replace the general ones. */
  readonly ofProjects: Readonly<Record<string, Partial<ProjectLimits>>>
}

/** Limits that can be set for a single project. */
export type ProjectLimits = Pick<Limits, 'documentBytes' | 'projectBytes' | 'projectDocuments'>

export const defaultLimits: Limits = {
  nameBytes: 255,
  pathBytes: 4_096,
  depth: 64,
  documentBytes: 0,
  projectBytes: 0,
  projectDocuments: 0,
  keepRunsMs: 0,
  parts: 1_000,
  uriParts: 100,
  multipartBytes: 1024 ** 3,
  uploadMs: 12 * 3_600_000,
  jsonBytes: 4 * 1024 * 1024,
  jsonDepth: 64,
  jsonValues: 400_000,
  jsonNames: 10_000,
  bodyBytesPerSecond: 256,
  bodyPeriodMs: 60_000,
  requestsPerConnection: 100,
  connections: 10_000,
  connectionsPerAddress: 1_000,
  requestsPerSecondPerAddress: 5_000,
  requestsPerSecondPerKey: 5_000,
  requestsUnderWayPerKey: 1_000,
  jsonBytesUnderWayPerKey: 64 * 1024 * 1024,
  // One processor stays free for the serving thread.
  matchingThreads: Math.max(2, Math.min(4, availableParallelism() - 1)),
  matchingBytes: 1024 ** 3,
  ofProjects: {},
}

/** The limits that apply to a project. */
export function limitsFor(limits: Limits, project: string): Limits {
  const own = Object.hasOwn(limits.ofProjects, project) ? limits.ofProjects[project] : undefined
  return own === undefined ? limits : { ...limits, ...own }
}

/** True if `amount` is above `limit`; never for 0, which is no limit. */
export function exceeds(amount: number, limit: number): boolean {
  return limit !== 0 && amount > limit
}
