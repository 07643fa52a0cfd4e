// Recognition of Excel workbooks (xls) among OLE files (Compound File Binary). OLE is a small file system in a file, also used
// by doc, ppt, msg and msi; the streams in its root folder tell them apart. Only the directory is read, sector by sector.

import { bufferAt, type ReadableContent } from './readable-content.ts'

export const oleSignature: Uint8Array = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/** `book` is the name in Excel 5.0 and 95. */
const workbookStreams = ['workbook', 'book']

const headerBytes = 512
/** Offsets of fields in the header, and in an entry of the directory ([MS-CFB], 2.2 and 2.6). */
const header = { sectorShift: 30, firstOfDirectory: 48, firstOfTableList: 68 }
const entry = { nameBytes: 64, type: 66, left: 68, right: 72 }
/** Offset and count of the allocation table's first sector numbers, which are in the header. */
const firstTable = { at: 76, count: 109 }
const entryBytes = 128
/** Limit, enough for a workbook with a thousand macro modules. Each sector costs two reads: its own, and one of the table. */
const mostDirectorySectors = 512
const typeStream = 2
/** Offset of the root's `child` field: the root is the directory's first entry. */
const childOfRoot = 76

/** True if the root folder has a workbook stream. One that is embedded in a Word document lies deeper, and does not count. */
export async function isWorkbookOle(content: ReadableContent): Promise<boolean> {
  const head = await bufferAt(content, 0, headerBytes)
  if (head.length < headerBytes) return false
  const directory = await new Sectors(content, head).chain(head.readUInt32LE(header.firstOfDirectory))
  return rootStreams(directory).some((name) => workbookStreams.includes(name))
}

/** Returns the names of the streams in the root folder, in lower case. A folder's entries are a binary tree. */
function rootStreams(directory: Buffer): string[] {
  const names: string[] = []
  const seen = new Set<number>()
  const toVisit = directory.length < entryBytes ? [] : [directory.readUInt32LE(childOfRoot)]
  for (let index = toVisit.pop(); index !== undefined; index = toVisit.pop()) {
    const at = index * entryBytes
    if (seen.has(index) || at + entryBytes > directory.length) continue
    seen.add(index)
    const nameBytes = Math.min(Math.max(directory.readUInt16LE(at + entry.nameBytes), 2), 64) - 2
    if (directory.readUInt8(at + entry.type) === typeStream)
      names.push(directory.toString('utf16le', at, at + nameBytes).toLowerCase())
    toVisit.push(directory.readUInt32LE(at + entry.left), directory.readUInt32LE(at + entry.right))
  }
  return names
}

class Sectors {
  readonly #content: ReadableContent
  readonly #head: Buffer
  readonly #size: number
  /** Entries of the allocation table in one sector, four bytes each. */
  readonly #perSector: number

  constructor(content: ReadableContent, head: Buffer) {
    this.#content = content
    this.#head = head
    this.#size = head.readUInt16LE(header.sectorShift) === 12 ? 4096 : 512
    this.#perSector = this.#size / 4
  }

  /** Returns the content of the chain of sectors from `first`, up to its end or the first incomplete sector. */
  async chain(first: number): Promise<Buffer> {
    const found: Buffer[] = []
    for (let sector = first; found.length < mostDirectorySectors;) {
      const bytes = await this.#read(sector, 0, this.#size)
      if (bytes.length < this.#size) break
      found.push(bytes)
      sector = await this.#next(sector)
    }
    return Buffer.concat(found)
  }

  async #next(sector: number): Promise<number> {
    const table = await this.#tableSector(Math.floor(sector / this.#perSector))
    return this.#number(table, sector % this.#perSector)
  }

  /** Returns the sector with part `index` of the allocation table. The header lists the first 109, a chain lists the others. */
  async #tableSector(index: number): Promise<number> {
    if (index < firstTable.count) return this.#head.readUInt32LE(firstTable.at + index * 4)
    // The last number of each sector of the list is that of its next sector.
    const listed = this.#perSector - 1
    let sector = this.#head.readUInt32LE(header.firstOfTableList)
    for (let left = Math.floor((index - firstTable.count) / listed); left > 0; left--)
      sector = await this.#number(sector, listed)
    return this.#number(sector, (index - firstTable.count) % listed)
  }

  async #number(sector: number, index: number): Promise<number> {
    const bytes = await this.#read(sector, index * 4, 4)
    return bytes.length < 4 ? 0xffffffff : bytes.readUInt32LE()
  }

  /** Reads from a sector; returns no bytes past the file's end, where the special numbers (end of chain, free) point. */
  #read(sector: number, offset: number, length: number): Promise<Buffer> {
    // Sector 0 follows the header, which takes one sector.
    return bufferAt(this.#content, (sector + 1) * this.#size + offset, length)
  }
}
