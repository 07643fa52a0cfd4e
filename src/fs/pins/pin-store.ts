// Pins as the person set them: paths, in a file of the state folder. The file is durable, since nothing else has them; the
// pinned content is in the disk cache, and can be fetched again. A path may be pinned although nothing has that name.
//
//   { "id": "8f0c…", "pins": ["/reports", "/letters/a.pdf"] }

import { syncNow, type Disk } from '../../world/disk.ts'
import type { Chance } from '../../world/chance.ts'
import type { World } from '../../world/world.ts'
import { dirname, join } from 'node:path'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { folderOf, isAtOrUnder } from '../../path.ts'

const pinFile = 'pins.json'

export class PinStore {
  /** Name of the cache's folder for the pins of this state folder: stays the same when the state folder is moved. */
  readonly id: string
  readonly #file: string
  readonly #disk: Disk
  #paths: ReadonlySet<string>

  /** Throws if the file cannot be read, and leaves it as it is. A damaged file is set aside. */
  constructor(stateDir: string, log: Log, world: World) {
    this.#file = join(stateDir, pinFile)
    this.#disk = world.disk
    const { id, pins } = this.#read(log, world)
    this.id = id
    this.#paths = new Set(pins)
  }

  /** Absolute paths in the project, sorted. */
  list(): readonly string[] {
    return [...this.#paths].toSorted()
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Returns the pin that the path is, or lies in. */
  pinOf(path: string): string | undefined {
    if (this.#paths.size === 0) return undefined
    for (let above = path; ; above = folderOf(above)) {
      if (this.#paths.has(above)) return above
      if (above === '/') return undefined
    }
  }

  /** Throws EBUSY if the path lies in a pinned folder, and is not pinned itself. */
  checkNotInPin(path: string): void {
    const pin = this.pinOf(path)
    if (pin !== undefined && pin !== path)
      throw new ErrnoError('EBUSY', `${path} lies in ${pin}, which is pinned: unpin that first`)
  }

  /** Throws the system's errors; then nothing has changed. */
  add(path: string): void {
    this.#change(new Set([...this.#paths, path]))
  }

  /** Throws the system's errors; then nothing has changed. */
  remove(path: string): void {
    this.#change(new Set([...this.#paths].filter((pinned) => pinned !== path)))
  }

  /**
   * Moves the pins at and under `from` to `to`. Returns true if there are any. Throws the system's errors; then nothing has
   * changed.
   */
  move(from: string, to: string): boolean {
    const moved = [...this.#paths].filter((path) => isAtOrUnder(path, from))
    if (moved.length === 0) return false
    const others = [...this.#paths].filter((path) => !isAtOrUnder(path, from))
    this.#change(new Set([...others, ...moved.map((path) => to + path.slice(from.length))]))
    return true
  }

  #change(paths: ReadonlySet<string>): void {
    writeDurably(
      this.#disk,
      this.#file,
      `${JSON.stringify({ id: this.id, pins: [...paths] }, undefined, 2)}\n`,
    )
    this.#paths = paths
  }

  #read(log: Log, { clock, chance }: World): Written {
    try {
      return parse(this.#disk.readFileSync(this.#file, 'utf8'))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return nothingYet(chance)
      // An error of the system tells nothing of the content, which may be whole.
      if (code !== undefined)
        throw new ErrnoError(code, `${this.#file} cannot be read (${code})`, { cause: error })
      const file = `${this.#file}.damaged-${new Date(clock.wall()).toISOString().replaceAll(':', '.')}`
      log.error(
        { file, error: String(error) },
        'what was pinned cannot be read: set aside, nothing is pinned',
      )
      this.#disk.renameSync(this.#file, file)
      return nothingYet(chance)
    }
  }
}

interface Written {
  readonly id: string
  readonly pins: readonly string[]
}

function nothingYet(chance: Chance): Written {
  return { id: chance.hex(8), pins: [] }
}

/** Throws if `PinStore` has not written it. */
function parse(text: string): Written {
  const { id, pins } = JSON.parse(text) as Partial<Record<keyof Written, unknown>>
  const isList = Array.isArray(pins) && pins.every((path) => typeof path === 'string' && path.startsWith('/'))
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id) || !isList) throw new Error('no list of paths')
  return { id, pins: pins as string[] }
}

/** Writes a new file and renames it: after a power cut the old file or the new one is there. */
function writeDurably(disk: Disk, file: string, text: string): void {
  const newFile = `${file}.new`
  const fd = disk.openSync(newFile, 'w', 0o600)
  try {
    const bytes = Buffer.from(text)
    disk.writeSync(fd, bytes, 0, bytes.length, 0)
    disk.fsyncSync(fd)
  } finally {
    disk.closeSync(fd)
  }
  disk.renameSync(newFile, file)
  syncNow(dirname(file), disk)
}
