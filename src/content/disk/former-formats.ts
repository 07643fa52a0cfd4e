// Blocks of the former format of the disk cache are taken over, so that what is pinned is here after an update, too: the same
// bytes at the same places, behind them a table with one checksum for each block. May go once nobody has such a folder.
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
  /** The cache's folder, with that of each format in it. */
  readonly dir: string
  /** Where today's files are. */
  readonly to: string
}

/** File by file. A file that cannot be read is removed; one that cannot be written stays for the next start. */
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
        // Another mount of the project has taken it over.
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
  /** Numbered from 0: where a block lies in a file does not depend on its number in the document. */
  readonly shape: SegmentShape
  readonly table: Buffer
}

/** Undefined for a file without its last block: only that tells how long the document is. */
async function formerTable(former: OpenFile, size: number): Promise<FormerTable | undefined> {
  const blocks = Math.ceil(size / (blockSizeBytes + formerEntryBytes))
  const tableAt = size - blocks * formerEntryBytes
  const table = Buffer.alloc(blocks * formerEntryBytes)
  if (blocks === 0 || tableAt < 0) return undefined
  await former.read(table, 0, table.length, tableAt)
  const last = entryAt(table, blocks - 1)
  if (last === undefined) return undefined
  const dataBytes = (blocks - 1) * blockSizeBytes + last.length
  const isIts =
    last.length <= blockSizeBytes && tableAt - dataBytes >= 0 && tableAt - dataBytes < formerEntryBytes
  return isIts ? { shape: { firstBlock: 0, blocks, dataBytes }, table } : undefined
}

/** Undefined where the block was never written. */
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
