// A disk whose syncs of some files can be held: what is to be on disk is not there yet.

import { readlinkSync } from 'node:fs'

import { systemDisk, type Disk } from '../../src/world/disk.ts'

export interface HeldSyncs {
  readonly disk: Disk
  /** Syncs of these files wait from now on, those that come before `pass` or `release`. */
  hold(): void
  /** Those that come from now on do not wait. */
  pass(): void
  /** All go on. */
  release(): void
  /** Resolves when one waits. */
  readonly reached: Promise<void>
}

export function heldSyncs(isHeldAt: (path: string) => boolean): HeldSyncs {
  let isHolding = false
  let reach = (): void => {}
  const reached = new Promise<void>((resolve) => (reach = resolve))
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const gate = async (path: string): Promise<void> => {
    if (!isHolding || !isHeldAt(path)) return
    reach()
    await released
  }
  const disk: Disk = {
    ...systemDisk,
    async fdatasync(fd) {
      await gate(readlinkSync(`/proc/self/fd/${fd}`))
      await systemDisk.fdatasync(fd)
    },
    async open(path, flags, mode) {
      const file = await systemDisk.open(path, flags, mode)
      const sync = file.sync.bind(file)
      return Object.assign(file, { sync: () => gate(path).then(sync) })
    },
  }
  return {
    disk,
    reached,
    release: () => release(),
    hold: () => void (isHolding = true),
    pass: () => void (isHolding = false),
  }
}
