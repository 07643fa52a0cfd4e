// A disk on which syncs of some files can be held back, so that their content is not durable yet.

import { readlinkSync } from 'node:fs'

import { systemDisk, type Disk } from '../../src/world/disk.ts'

export interface HeldSyncs {
  readonly disk: Disk
  /** Later syncs of these files wait until `release`. */
  hold(): void
  /** Later syncs do not wait; those that wait still do. */
  pass(): void
  /** Lets the waiting syncs continue, and later ones pass. */
  release(): void
  /** Resolves when the first sync waits. */
  readonly reached: Promise<void>
}

/** `isHeldAt` is true for the paths of the files whose syncs are held. */
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
