// Converts blocks of the former format of the disk cache, so that pinned documents are still here after an update. It has the
// same bytes at the same places, and a table with one checksum per block. May be removed once no such folders exist.
//
//   entry: length · crc32 of the bytes · tag · crc32 of these three, 4 bytes each

import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Log } from '../../log.ts'
import type { Disk, OpenFile } from '../../world/disk.ts'
import { blockLength, blockSizeBytes } from '../extent.ts'
import { Segment } from './segment.ts'
import type { SegmentShape } from './segment-table.ts'

const formerFolder = 'blocks-1'
const formerEntryBytes = 16

export interface Takeover {
  readonly disk: Disk
  readonly log: Log
  /** The cache's folder, which has a subfolder for each format. */
  readonly dir: string
  /** Subfolder of the present format. */
  readonly to: string
}

/** Converts all files. One that cannot be read is removed; one that cannot be written stays for the next start. */
export async function takeOverFormerFormat({ disk, log, dir, to }: Takeover): Promise<void> {
  const folder = join(dir, formerFolder)
  for (const shard of await namesIn(disk, folder)) {
    for (const name of await namesIn(disk, join(folder, shard))) {
      const file = join(folder, shard, name)
      try {
        await disk.mkdir(join(to, shard), { recursive: true, mode: 0o700 })
        await takeOver(disk, file, join(to, shard, name))
        await disk.unlink(file)
      } catch (error) {
        // Another mount of the project has converted it.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
        log.debug({ error: String(error) }, 'a file of the former cache is not taken over')
      }
    }
    await disk.rmdir(join(folder, shard)).catch(() => {})
  }
  await disk.rmdir(folder).catch(() => {})
}

async function takeOver(disk: Disk, from: string, to: string): Promise<void> {
  const { size } = await disk.stat(from)
  const former = await disk.open(from, 'r')
  try {
    const found = await formerTable(former, size)
    if (found === undefined) return
    const segment = await Segment.open(disk, to, found.shape, true)
    try {
      for (let block = 0; block < found.shape.blocks; block++) {
        const entry = entryAt(found.table, block)
        const bytes = Buffer.allocUnsafeSlow(blockLength(block, found.shape.dataBytes))
        if (entry?.length !== bytes.length) continue
        const { bytesRead } = await former.read(bytes, 0, bytes.length, block * blockSizeBytes)
        if (bytesRead < bytes.length || crc32(bytes) !== entry.checksum) continue
        await segment.write([{ block, bytes: [bytes], tag: entry.tag }])
      }
    } finally {
      await segment.close()
    }
  } finally {
    await former.close()
  }
}

interface FormerTable {
  /** Blocks are numbered from 0, as their places in the file do not depend on their numbers in the document. */
  readonly shape: SegmentShape
  readonly table: Buffer
}

/** Reads the table at the end of the file. Undefined if the last block is absent: only its entry tells where the table begins. */
async function formerTable(former: OpenFile, size: number): Promise<FormerTable | undefined> {
  const blocks = Math.ceil(size / (blockSizeBytes + formerEntryBytes))
  const tableAt = size - blocks * formerEntryBytes
  const table = Buffer.alloc(blocks * formerEntryBytes)
  if (blocks === 0 || tableAt < 0) return undefined
  await former.read(table, 0, table.length, tableAt)
  const last = entryAt(table, blocks - 1)
  if (last === undefined) return undefined
  const dataBytes = (blocks - 1) * blockSizeBytes + last.length
  const isConsistent =
    last.length <= blockSizeBytes && tableAt - dataBytes >= 0 && tableAt - dataBytes < formerEntryBytes
  return isConsistent ? { shape: { firstBlock: 0, blocks, dataBytes }, table } : undefined
}

/** The table's entry for a block; undefined where it was never written. */
function entryAt(
  table: Buffer,
  block: number,
): { length: number; checksum: number; tag: number } | undefined {
  const entry = table.subarray(block * formerEntryBytes, (block + 1) * formerEntryBytes)
  const [length, checksum, tag, closing] = [0, 4, 8, 12].map((at) => entry.readUInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ]
  return length > 0 && closing === crc32(entry.subarray(0, 12)) ? { length, checksum, tag } : undefined
}

async function namesIn(disk: Disk, folder: string): Promise<string[]> {
  return disk.readdir(folder).catch(() => [])
}
