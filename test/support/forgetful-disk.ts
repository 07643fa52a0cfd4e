// This machine's disk, with syncs that can fail as on Linux: a failed fdatasync loses the bytes written before it, and the next
// fdatasync succeeds all the same.

import { systemDisk, type Disk } from '../../src/world/disk.ts'

export interface ForgetfulDisk extends Disk {
  /** Number of the next fdatasync calls that fail. */
  refusals: number
  /** Content that a power cut would leave: bytes whose sync succeeded, by position. For a test with one file. */
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
