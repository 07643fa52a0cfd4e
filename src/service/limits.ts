// How much anybody may ask of the service. Generous: nobody who works with documents meets one. 0 is no limit.

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
  /** Bytes and number of the documents a project may hold, those of its storage tables included. */
  readonly projectBytes: number
  readonly projectDocuments: number
  /** Parts of a multipart document, and those of them that come by `uri`: little is sent for them, and much is stored. */
  readonly parts: number
  readonly uriParts: number
  /** Bytes of a multipart document as it is stored. */
  readonly multipartBytes: number
  /** From the headers of a request until its body is here, and what `uri` leads to is fetched. */
  readonly uploadMs: number
  /** Bytes of a body of JSON, for the serving thread parses it; beside the content of a document it is 1 MiB. */
  readonly jsonBytes: number
  /** Runs and tasks that are older are removed. */
  readonly keepRunsMs: number
  /** Objects and arrays within each other. */
  readonly jsonDepth: number
  /** Values in a body of JSON, and names in one object of it. */
  readonly jsonValues: number
  readonly jsonNames: number
  /** A body has to bring so many bytes a second, on the average of `bodyPeriodMs`. */
  readonly bodyBytesPerSecond: number
  readonly bodyPeriodMs: number
  /** Requests that came together on one connection and are not answered yet. */
  readonly requestsPerConnection: number
  readonly connections: number
  /** These two do not concern addresses of this machine: that is where proxies are. */
  readonly connectionsPerAddress: number
  readonly requestsPerSecondPerAddress: number
  /** On the average of ten seconds, as above. */
  readonly requestsPerSecondPerKey: number
  /** Requests of one key at the same time. */
  readonly requestsUnderWayPerKey: number
  /** Bytes of their bodies of JSON; what is made of them may take twenty times the memory. */
  readonly jsonBytesUnderWayPerKey: number
  /** Reconciliations at a time, each a thread in a process of its own; one key never has all of them. */
  readonly matchingThreads: number
  /** Of the heap of one of these processes: its indexes, and what it matches. */
  readonly matchingBytes: number
  /** By a project's name: what it may hold in place of what all may. */
  readonly ofProjects: Readonly<Record<string, Partial<ProjectLimits>>>
}

/** Those that can be a project's own. */
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
  // One processor is left to those who are served meanwhile.
  matchingThreads: Math.max(2, Math.min(4, availableParallelism() - 1)),
  matchingBytes: 1024 ** 3,
  ofProjects: {},
}

/** For what is asked of this project. */
export function limitsFor(limits: Limits, project: string): Limits {
  const own = Object.hasOwn(limits.ofProjects, project) ? limits.ofProjects[project] : undefined
  return own === undefined ? limits : { ...limits, ...own }
}

/** True when there is such a limit and `amount` is beyond it. */
export function exceeds(amount: number, limit: number): boolean {
  return limit !== 0 && amount > limit
}
