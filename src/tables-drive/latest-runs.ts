// The reconciliations that went through a drive lately; in memory, as everything dropped there.

import type { ReconcileRun } from './reconcile-run.ts'

const most = 50

export class LatestRuns {
  #runs: readonly ReconcileRun[] = []

  /** The latest last. */
  get all(): readonly ReconcileRun[] {
    return this.#runs
  }

  add(run: ReconcileRun): void {
    this.#runs = [...this.#runs, run].slice(-most)
  }
}
