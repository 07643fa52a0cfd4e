// A sync that is not believed because the next one succeeds. Where one fails the kernel takes what it could not write for
// written, and says so once: a later one would succeed without it (fsync(2), Linux since 4.13). So everything is written again
// before a later one is believed.

import { ErrnoError } from '../../errno-error.ts'

export class BelievedSync {
  #failed = 0
  /** How many of the failures everything was written again after. */
  #madeGood = 0

  /** Throws what `sync` throws, and EIO where another one under way at the same time failed: only one of them is told. */
  async run(sync: () => Promise<void>, writeAgain: () => Promise<void> | void): Promise<void> {
    const failed = this.#failed
    if (failed > this.#madeGood) await writeAgain()
    try {
      await sync()
    } catch (error) {
      this.#failed++
      throw error
    }
    if (this.#failed > failed) throw new ErrnoError('EIO', 'the disk did not take what was written')
    this.#madeGood = failed
  }
}
