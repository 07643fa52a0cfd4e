// One reconciliation of a drive. The drive lists them, because the interface of the service has no list of runs.

export interface ReconcileRun {
  /** ISO time of its end. */
  readonly at: string
  /** The table's name. */
  readonly table: string
  /** Name of the dropped file. */
  readonly file: string
  /** The status in the service's result, or `failed` if there was none. */
  readonly status: string
  /** The reasoning in the service's result, or the error message. */
  readonly reasoning: string
}
