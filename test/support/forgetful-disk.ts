// The machine's disk, but for syncs: those that it is told to refuse lose what was written through it, as Linux does, and the
// next one knows nothing of that.

import { systemDisk, type Disk } from '../../src/world/disk.ts'

export interface ForgetfulDisk extends Disk {
  /** So many of the next syncs of contents fail. */
  refusals: number
  /** Bytes left by a power cut, of those written through it. */
  readonly kept: Buffer
}

export function forgetfulDisk(mostBytes: number): ForgetfulDisk {
  let written: { at: number; bytes: Buffer }[] = []
  const note = (at: number, bytes: Uint8Array): void => void written.push({ at, bytes: Buffer.from(bytes) })
  return {
    ...systemDisk,
    refusals: 0,
    kept: Buffer.alloc(mostBytes),
    writeSync(fd, bytes, offset, length, position) {
      note(position, bytes.subarray(offset, offset + length))
      return systemDisk.writeSync(fd, bytes, offset, length, position)
    },
    write(fd, bytes, offset, length, position) {
      note(position, bytes.subarray(offset, offset + length))
      return systemDisk.write(fd, bytes, offset, length, position)
    },
    async fdatasync() {
      const pieces = written
      written = []
      if (this.refusals-- > 0) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      for (const { at, bytes } of pieces) bytes.copy(this.kept, at)
    },
  }
}
