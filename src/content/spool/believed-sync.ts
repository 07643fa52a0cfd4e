// Syncs of a file after a failed one. When an fsync fails, the kernel reports it once and marks the lost pages as clean, so the
// next fsync succeeds without them (fsync(2), Linux since 4.13). So everything is written again before a later sync is believed.

import { ErrnoError } from '../../errno-error.ts'

export class BelievedSync {
  #failed = 0
  /** Number of failures after which everything was written again and synced. */
  #repaired = 0

  /** Syncs. Throws the error of `sync`, and EIO if another one under way at the same time failed: the kernel tells only one. */
  async run(sync: () => Promise<void>, writeAgain: () => Promise<void> | void): Promise<void> {
    const failed = this.#failed
    if (failed > this.#repaired) await writeAgain()
    try {
      await sync()
    } catch (error) {
      this.#failed++
      throw error
    }
    if (this.#failed > failed) throw new ErrnoError('EIO', 'the disk did not take what was written')
    this.#repaired = failed
  }
}
