// The descriptor of a spool file: opened when needed, and closed while unused. If the file was removed from its path by
// somebody else, it is written there again.

import { ErrnoError } from '../../errno-error.ts'
import type { Disk } from '../../world/disk.ts'

/** Bytes copied per call. */
const pieceBytes = 576 * 1024

export interface HeldFileOptions {
  readonly path: string
  readonly disk: Disk
  /** Called when the file was opened, with its size (bytes). */
  readonly opened: (bytes: number) => void
  /** Called before a file removed from its path is written again from the open descriptor: creates the folder where missing. */
  readonly willBeWritten: () => void
  /**
   * Writes the file again from the journal: called if it was removed while no descriptor was open. False if the journal does not
   * have its content.
   */
  readonly bringBack: () => boolean
}

export class HeldFile {
  readonly #options: HeldFileOptions
  readonly #disk: Disk
  #fd: number | undefined
  /** True if it was last opened for reading only, since the file could not be written then. */
  #isReadOnly = false
  /** Descriptors that were replaced; closed when the last operation on them ends. */
  #former: number[] = []
  /** Number of operations under way on the descriptor. */
  #users = 0
  /** True if the descriptor is closed when the last of them ends. */
  #closesWhenUnused = false

  constructor(options: HeldFileOptions) {
    this.#options = options
    this.#disk = options.disk
  }

  open(flags: 'wx+' | 'r+' | 'r'): void {
    this.#fd = this.#disk.openSync(this.#options.path, flags, 0o600)
    this.#isReadOnly = flags === 'r'
    this.#options.opened(flags === 'wx+' ? 0 : this.#disk.fstatSync(this.#fd).size)
  }

  /** The descriptor; opens the file if it is not open. Throws the disk's error, EIO where the file is gone. */
  get fd(): number {
    if (this.#fd === undefined) this.#openAgain()
    return this.#fd as number
  }

  #openAgain(): void {
    const { path, bringBack } = this.#options
    try {
      this.open('r+')
    } catch (error) {
      if (isKeptFromWriting(error)) {
        this.open('r')
        return
      }
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (!bringBack())
        throw new ErrnoError('EIO', `the content in ${path} was taken away from this machine`, {
          cause: error,
        })
      this.open('r+')
    }
  }

  /** Before a write: opens the file again if it is open for reading only. Throws EPERM or EROFS if it still may not be written. */
  checkWritable(): void {
    if (!this.#isReadOnly || this.#fd === undefined) return
    const former = this.#fd
    this.open('r+')
    this.#former.push(former)
    this.#closeFormer()
  }

  /** True while its bytes are held here, whatever becomes of its path. */
  get isHeld(): boolean {
    return this.#fd !== undefined
  }

  /** True if the file at the path is the one that is held; without a descriptor, if any file is there. */
  get isInPlace(): boolean {
    const { path } = this.#options
    if (this.#fd === undefined) return this.#disk.existsSync(path)
    const held = this.#disk.fstatSync(this.#fd)
    try {
      const found = this.#disk.statSync(path)
      return found.ino === held.ino && found.dev === held.dev
    } catch (error) {
      // Other errors do not show that the file is missing.
      return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }

  /**
   * Writes the file again at its path if it was removed from there: its first `bytes` bytes from the open descriptor, or all from
   * the journal. Returns true if the new file is to be synced; one from the journal is not, since its content stays in there. Throws
   * the disk's error; EIO if its content is lost.
   */
  putBack(bytes: number): boolean {
    if (this.isInPlace) return false
    if (this.#fd === undefined) {
      this.#openAgain()
      return false
    }
    const { path, willBeWritten } = this.#options
    willBeWritten()
    const fd = this.#disk.openSync(path, 'w+', 0o600)
    try {
      copyAll(this.#fd, fd, bytes, this.#disk)
    } catch (error) {
      this.#disk.closeSync(fd)
      throw error
    }
    this.#former.push(this.#fd)
    this.#fd = fd
    this.#closeFormer()
    return true
  }

  #closeFormer(): void {
    if (this.#users > 0) return
    for (const fd of this.#former) this.#disk.closeSync(fd)
    this.#former = []
  }

  /** Keeps the descriptor open while work on it is in the thread pool: its number may soon be another file's. */
  async use<T>(work: (fd: number) => Promise<T>): Promise<T> {
    this.#users++
    try {
      return await work(this.fd)
    } finally {
      this.#users--
      this.#closeFormer()
      if (this.#users === 0 && this.#closesWhenUnused) this.idle()
    }
  }

  /** Closes the descriptor, after the operations under way; the next use opens the file again. */
  idle(): void {
    this.#closesWhenUnused = this.#users > 0
    if (this.#fd === undefined || this.#closesWhenUnused) return
    this.#disk.closeSync(this.#fd)
    this.#fd = undefined
  }
}

/** True for an error that still lets the file be read. */
function isKeptFromWriting(error: unknown): boolean {
  return ['EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** Copies synchronously, so that nothing is written meanwhile. */
function copyAll(from: number, to: number, size: number, disk: Disk): void {
  const piece = Buffer.allocUnsafe(Math.min(size, pieceBytes))
  for (let at = 0; at < size;) {
    const bytes = disk.readSync(from, piece, 0, piece.length, at)
    if (bytes === 0) return
    for (let done = 0; done < bytes;) done += disk.writeSync(to, piece, done, bytes - done, at + done)
    at += bytes
  }
}
