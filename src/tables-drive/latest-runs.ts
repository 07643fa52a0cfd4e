// The latest reconciliations of a drive, in memory like all dropped files.

import type { ReconcileRun } from './reconcile-run.ts'

const maxRuns = 50

export class LatestRuns {
  #runs: readonly ReconcileRun[] = []

  /** All runs, the latest last. */
  get all(): readonly ReconcileRun[] {
    return this.#runs
  }

  add(run: ReconcileRun): void {
    this.#runs = [...this.#runs, run].slice(-maxRuns)
  }
}
