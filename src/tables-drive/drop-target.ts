// Target of a folder that takes files: the shape shared by forward/ and reconcile/. No behaviour.

/** How many rows of a file the service has, and which: `digest` is of their JSON. */
export interface RowsIn {
  readonly count: number
  readonly digest: string
  readonly assetIds: readonly string[]
}

export interface DroppedFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** Rows that were taken of this very file before, and not cut away since. */
  readonly rowsIn: RowsIn | undefined
}

/** Outcome of a file: `answer` is what its result file says, as JSON; text is CSV. */
export interface Verdict {
  readonly answer: object | string
  /** Error that close reports; undefined for success. */
  readonly failure?: Error | undefined
  readonly rowsIn?: RowsIn | undefined
}

export interface DropTarget {
  /** True for names of files it can take, by their extension. */
  takes(name: string): boolean
  /** For messages: `a .csv, .json or .xlsx file`. */
  readonly wanted: string
  /** Never rejects: a failure is in the verdict. */
  take(file: DroppedFile, signal: AbortSignal): Promise<Verdict>
}
