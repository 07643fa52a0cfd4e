// Notices that the kernel has let go of a mount: unmounted by us, by somebody else, or dead. The binding does not say, so
// this looks once a second, at files of the kernel and never at the mount itself.

import { readdir, readlink, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import type { CloseReason } from '../driver.ts'
import { readMountinfo, type MountLine } from '../mountinfo.ts'

const intervalMs = 1000
const soonMs = 20

/** A thread may wait for an answer that never comes. */
const longestEndMs = 2000

/** State of the mount by the two signs of life. */
type Sight = 'alive' | 'unmounted' | 'abandoned'

export class MountWatch {
  readonly closed: Promise<CloseReason>
  readonly #mount: MountLine
  readonly #fd: string | undefined
  #deviceIno: number | undefined
  #timer: NodeJS.Timeout | undefined
  #soonUntilMs = 0
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

  /** Looks often for the next two seconds: an unmount is under way. */
  hurry(): void {
    this.#soonUntilMs = performance.now() + 2000
    this.#schedule()
  }

  /** Once it is closed: resolves when libfuse has cancelled its threads, after which it closes its descriptor. */
  async libfuseEnded(): Promise<void> {
    const untilMs = performance.now() + longestEndMs
    while (this.#fd !== undefined && (await isFuseDevice(this.#fd)) && performance.now() < untilMs) {
      await pause(soonMs)
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const waitMs = performance.now() < this.#soonUntilMs ? soonMs : intervalMs
    this.#timer = setTimeout(() => void this.#look(), waitMs)
    // The binding keeps the process alive while it is mounted; this must not.
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const sight = await this.#see()
    if (sight === 'unmounted') return this.#resolveClosed('unmounted')
    // libfuse closes its descriptor a moment before the kernel has removed the filesystem: look twice.
    if (sight === 'abandoned' && this.#wasAbandoned) return this.#resolveClosed('failed')
    this.#wasAbandoned = sight === 'abandoned'
    this.#schedule()
  }

  async #see(): Promise<Sight> {
    if (!(await this.#isThere())) return 'unmounted'
    if (this.#fd === undefined) return 'alive'
    return (await isFuseDevice(this.#fd)) ? 'alive' : 'abandoned'
  }

  /** A lazily unmounted filesystem leaves the mount table at once but lives on, with its device, until the last user goes. */
  async #isThere(): Promise<boolean> {
    if (this.#deviceIno !== undefined) return (await inoOf(deviceFile(this.#mount))) === this.#deviceIno
    const lines = await readMountinfo()
    return lines.some(({ id, device }) => id === this.#mount.id && device === this.#mount.device)
  }
}

/** The descriptors of /dev/fuse that this process has open. */
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

/** Every FUSE filesystem has an entry here while it lives, with an inode number that is not used again. */
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
