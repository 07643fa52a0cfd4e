// Detects the end of a mount: unmounted by us, by somebody else, or dead. The binding does not report it, so /proc and /sys are
// polled once a second, and never the mount itself.

import { readdir, readlink, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import type { CloseReason } from '../driver.ts'
import { readMountinfo, type MountLine } from '../mountinfo.ts'

const intervalMs = 1000
const fastIntervalMs = 20

/** Longest wait for libfuse's threads to end: one may wait for an answer that never comes. */
const longestEndMs = 2000

/** State of the mount. `abandoned`: the kernel has it, and libfuse has closed its descriptor. */
type MountState = 'alive' | 'unmounted' | 'abandoned'

export class MountWatch {
  readonly closed: Promise<CloseReason>
  readonly #mount: MountLine
  readonly #fd: string | undefined
  #deviceIno: number | undefined
  #timer: NodeJS.Timeout | undefined
  #fastUntilMs = 0
  #wasAbandoned = false
  readonly #resolveClosed: (reason: CloseReason) => void

  /** `fd` is libfuse's descriptor of /dev/fuse in this process, when known. */
  constructor(mount: MountLine, fd: string | undefined) {
    const { promise, resolve } = promiseWithResolvers<CloseReason>()
    this.closed = promise
    this.#resolveClosed = resolve
    this.#mount = mount
    this.#fd = fd
  }

  async start(): Promise<void> {
    this.#deviceIno = await inoOf(deviceFile(this.#mount))
    this.#schedule()
  }

  /** Polls every 20 ms for two seconds: an unmount is under way. */
  pollFaster(): void {
    this.#fastUntilMs = performance.now() + 2000
    this.#schedule()
  }

  /** Call it after `closed`. Resolves when libfuse has cancelled its threads: then it closes its descriptor. */
  async libfuseEnded(): Promise<void> {
    const untilMs = performance.now() + longestEndMs
    while (this.#fd !== undefined && (await isFuseDevice(this.#fd)) && performance.now() < untilMs) {
      await pause(fastIntervalMs)
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const waitMs = performance.now() < this.#fastUntilMs ? fastIntervalMs : intervalMs
    this.#timer = setTimeout(() => void this.#check(), waitMs)
    // The timer must not keep the process alive.
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const state = await this.#readState()
    if (state === 'unmounted') return this.#resolveClosed('unmounted')
    // Twice in a row: libfuse closes its descriptor a moment before the kernel has removed the filesystem.
    if (state === 'abandoned' && this.#wasAbandoned) return this.#resolveClosed('failed')
    this.#wasAbandoned = state === 'abandoned'
    this.#schedule()
  }

  async #readState(): Promise<MountState> {
    if (!(await this.#isThere())) return 'unmounted'
    if (this.#fd === undefined) return 'alive'
    return (await isFuseDevice(this.#fd)) ? 'alive' : 'abandoned'
  }

  /** Checks the device: a lazily unmounted filesystem leaves the mount table at once, its device with the last user. */
  async #isThere(): Promise<boolean> {
    if (this.#deviceIno !== undefined) return (await inoOf(deviceFile(this.#mount))) === this.#deviceIno
    const lines = await readMountinfo()
    return lines.some(({ id, device }) => id === this.#mount.id && device === this.#mount.device)
  }
}

/** Resolves with the open descriptors of /dev/fuse of this process. */
export async function fuseDescriptors(): Promise<string[]> {
  const fds = await readdir('/proc/self/fd')
  const found = await Promise.all(fds.map(isFuseDevice))
  return fds.filter((_, index) => found[index])
}

async function isFuseDevice(fd: string): Promise<boolean> {
  try {
    return (await readlink(`/proc/self/fd/${fd}`)) === '/dev/fuse'
  } catch {
    return false // closed meanwhile
  }
}

/** Returns a path in /sys that exists as long as the FUSE filesystem, with an inode number that is not reused. */
function deviceFile({ device }: MountLine): string {
  return `/sys/class/bdi/${device}`
}

async function inoOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino
  } catch {
    return undefined // gone, or a system without sysfs
  }
}

function promiseWithResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}
