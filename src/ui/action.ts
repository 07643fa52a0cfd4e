// An action of the page: a function for the path that a form is sent to.

import type { CliParts } from './page-data.ts'

export interface ActionOptions {
  /** Folder for copies. Default: the user's download folder, else home. */
  readonly copyTo: string | undefined
  readonly cli: CliParts
  /** Aborted when the page ends: an unmount that is still sending is taken back. */
  readonly signal: AbortSignal
}

/** Resolves with a sentence about the result. Throws Refused for a bad form; other errors have a message for the user. */
export type Action = (form: URLSearchParams, options: ActionOptions) => Promise<string>
