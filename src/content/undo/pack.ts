// One file of the undo store: lines that were appended, each with the bytes of a small version behind it. It is never changed, and
// goes whole, with the files of large versions that it names.

import type { Disk } from '../../world/disk.ts'
import { bytesBehind, decoded, longestLineBytes, type Line } from './record.ts'

const windowBytes = 256 * 1024
const newline = 10

export interface PlacedLine {
  readonly line: Line
  /** Where it begins, and where the bytes behind it do. */
  readonly at: number
  readonly bytesAt: number
}

/** All lines of a pack, oldest first, up to one that a power cut tore. Throws the system's errors. */
export async function* linesOf(disk: Disk, path: string): AsyncGenerator<PlacedLine> {
  const file = await disk.open(path, 'r')
  try {
    const { size } = await disk.stat(path)
    const window = Buffer.alloc(windowBytes)
    let [from, to] = [0, 0]
    for (let at = 0; at < size;) {
      if (at + longestLineBytes > to && to < size) {
        const { bytesRead } = await file.read(window, 0, windowBytes, at)
        ;[from, to] = [at, at + bytesRead]
      }
      const end = window.subarray(0, to - from).indexOf(newline, at - from)
      const line = end < 0 ? undefined : decoded(window.subarray(at - from, end))
      if (line === undefined) return
      const bytesAt = from + end + 1
      const next = bytesAt + bytesBehind(line)
      if (next > size) return
      yield { line, at, bytesAt }
      at = next
    }
  } finally {
    await file.close()
  }
}
