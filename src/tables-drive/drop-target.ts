// The type of a drop target: it processes the files dropped into a folder. `forward/` and `reconcile/` each have one.

/** The first `count` rows of a file, which are in the table already, as assets. `digest`: SHA-256 of the JSON of these rows. */
export interface RowsIn {
  readonly count: number
  readonly digest: string
  readonly assetIds: readonly string[]
}

export interface DroppedFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** Rows of this same file that were sent before; undefined if none, or if the file was truncated since. */
  readonly rowsSent: RowsIn | undefined
}

/** The outcome of a dropped file. `answer` is the content of its result file: an object is written as JSON, a string is CSV. */
export interface Verdict {
  readonly answer: object | string
  /** The error of close; undefined on success. */
  readonly failure?: Error | undefined
  readonly rowsSent?: RowsIn | undefined
}

export interface DropTarget {
  /** True if the target can take files of this name, judged by the extension. */
  takes(name: string): boolean
  /** The accepted files, for messages: `a .csv, .json or .xlsx file`. */
  readonly wanted: string
  /** Processes the file. Never rejects: a failure is in the verdict. */
  take(file: DroppedFile, signal: AbortSignal): Promise<Verdict>
}
