// An action of the page: a function for the path that a form is sent to.

import type { CliParts } from './page-data.ts'

export interface ActionOptions {
  /** Folder for copies. Default: the user's download folder, else home. */
  readonly copyTo: string | undefined
  readonly cli: CliParts
  /** Lists on the page what was deleted and replaced at and under a path of a drive; undefined: nothing any more. */
  readonly showFormer: (drive: string, path: string | undefined) => void
  /** Aborted when the page ends: an unmount that is still sending is taken back. */
  readonly signal: AbortSignal
}

/** Resolves with a sentence about the result, or undefined if the page itself shows it. Throws Refused for a bad form; other errors have a message for the user. */
export type Action = (form: URLSearchParams, options: ActionOptions) => Promise<string | undefined>
