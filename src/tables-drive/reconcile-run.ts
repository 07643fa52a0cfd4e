// One reconciliation that went through the drive, for whoever lists them: the interface has no list of runs.

export interface ReconcileRun {
  /** ISO time of its end. */
  readonly at: string
  /** The table's name. */
  readonly table: string
  /** Name of the dropped file. */
  readonly file: string
  /** The service's own word, or `failed` where it gave none. */
  readonly status: string
  /** The service's, or why there is none. */
  readonly reasoning: string
}
