// The descriptor of a spool file: opened when it is needed, given back when nobody uses it, and looked for at its path, where it
// is written again should somebody have taken it away.

import { ErrnoError } from '../../errno-error.ts'
import type { Disk } from '../../world/disk.ts'

const copiedBytes = 576 * 1024

export interface HeldFileOptions {
  readonly path: string
  readonly disk: Disk
  /** It was opened, and is so long by now (bytes). */
  readonly opened: (bytes: number) => void
  /** It is not at its path, and is written again of what is held here: makes the folder where that is missing. */
  readonly willBeWritten: () => void
  /** It is not at its path, and nothing is held: writes it again of what the journal has. False where that has nothing of it. */
  readonly bringBack: () => boolean
}

export class HeldFile {
  readonly #options: HeldFileOptions
  readonly #disk: Disk
  #fd: number | undefined
  /** The state folder could not be written when it was opened last. */
  #isReadOnly = false
  /** Of a file that was taken away, while somebody reads it. */
  #former: number[] = []
  /** Operations under way on the descriptor. */
  #users = 0
  /** The descriptor is to be given back when the last of them ends. */
  #isIdle = false

  constructor(options: HeldFileOptions) {
    this.#options = options
    this.#disk = options.disk
  }

  open(flags: 'wx+' | 'r+' | 'r'): void {
    this.#fd = this.#disk.openSync(this.#options.path, flags, 0o600)
    this.#isReadOnly = flags === 'r'
    this.#options.opened(flags === 'wx+' ? 0 : this.#disk.fstatSync(this.#fd).size)
  }

  /** Opens it where it is not held. Throws what the disk says, EIO where it is gone. */
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

  /** Throws EPERM or EROFS where it still may only be read. */
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

  /** True where the file at its path is the one that is held; where none is, where there is one. */
  get isInPlace(): boolean {
    const { path } = this.#options
    if (this.#fd === undefined) return this.#disk.existsSync(path)
    const held = this.#disk.fstatSync(this.#fd)
    try {
      const found = this.#disk.statSync(path)
      return found.ino === held.ino && found.dev === held.dev
    } catch (error) {
      // A disk that cannot be asked has lost nothing.
      return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }

  /**
   * Back at its path, where it was taken away and is held, or the journal has it. True where it is another file now, of which
   * nothing is on disk. Throws what the disk says, EIO where it is gone.
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
      if (this.#users === 0 && this.#isIdle) this.idle()
    }
  }

  /** Gives the descriptor back; the next use opens the file again. */
  idle(): void {
    this.#isIdle = this.#users > 0
    if (this.#fd === undefined || this.#isIdle) return
    this.#disk.closeSync(this.#fd)
    this.#fd = undefined
  }
}

/** True for an error that still lets the file be read. */
function isKeptFromWriting(error: unknown): boolean {
  return ['EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** In one turn, so that nothing is written meanwhile. */
function copyAll(from: number, to: number, size: number, disk: Disk): void {
  const piece = Buffer.allocUnsafe(Math.min(size, copiedBytes))
  for (let at = 0; at < size;) {
    const bytes = disk.readSync(from, piece, 0, piece.length, at)
    if (bytes === 0) return
    for (let done = 0; done < bytes;) done += disk.writeSync(to, piece, done, bytes - done, at + done)
    at += bytes
  }
}
