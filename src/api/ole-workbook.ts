// OLE (Compound File Binary) is a small file system in a file: xls, doc, ppt, msg and msi are told apart by what its root folder
// holds. Only that is read, sector by sector.

import { bufferAt, type ReadableContent } from './readable-content.ts'

export const oleSignature: Uint8Array = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/** `Book` is Excel 5.0 and 95. */
const workbookStreams = ['workbook', 'book']

const headerBytes = 512
/** Where the numbers of the first sectors of the allocation table are in the header, and how many. */
const firstTable = { at: 76, count: 109 }
const entryBytes = 128
/** A workbook with a thousand macro modules; each costs one read, and one of the allocation table. */
const mostDirectorySectors = 512
const typeStream = 2
/** The root is the first entry. */
const childOfRoot = 76

/** True for an OLE file with a workbook in its root folder; one that is embedded in a letter lies deeper. */
export async function isWorkbookOle(content: ReadableContent): Promise<boolean> {
  const header = await bufferAt(content, 0, headerBytes)
  if (header.length < headerBytes) return false
  const directory = await new Sectors(content, header).chain(header.readUInt32LE(48))
  return rootStreams(directory).some((name) => workbookStreams.includes(name))
}

/** The names of the streams of the root folder, in lower case. Each folder is a binary tree of entries. */
function rootStreams(directory: Buffer): string[] {
  const names: string[] = []
  const isSeen = new Set<number>()
  const left = directory.length < entryBytes ? [] : [directory.readUInt32LE(childOfRoot)]
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    const at = index * entryBytes
    if (isSeen.has(index) || at + entryBytes > directory.length) continue
    isSeen.add(index)
    const nameBytes = Math.min(Math.max(directory.readUInt16LE(at + 64), 2), 64) - 2
    if (directory.readUInt8(at + 66) === typeStream)
      names.push(directory.toString('utf16le', at, at + nameBytes).toLowerCase())
    left.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72))
  }
  return names
}

class Sectors {
  readonly #content: ReadableContent
  readonly #header: Buffer
  readonly #size: number
  /** Numbers of sectors in one sector. */
  readonly #perSector: number

  constructor(content: ReadableContent, header: Buffer) {
    this.#content = content
    this.#header = header
    this.#size = header.readUInt16LE(30) === 12 ? 4096 : 512
    this.#perSector = this.#size / 4
  }

  /** The sectors that begin with `first`, put together, as far as they are there. */
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

  /** The sector with part `index` of the allocation table: the first are in the header, the others in a chain of their own. */
  async #tableSector(index: number): Promise<number> {
    if (index < firstTable.count) return this.#header.readUInt32LE(firstTable.at + index * 4)
    const perSector = this.#perSector - 1
    let sector = this.#header.readUInt32LE(68)
    for (let left = Math.floor((index - firstTable.count) / perSector); left > 0; left--)
      sector = await this.#number(sector, perSector)
    return this.#number(sector, (index - firstTable.count) % perSector)
  }

  async #number(sector: number, index: number): Promise<number> {
    const bytes = await this.#read(sector, index * 4, 4)
    return bytes.length < 4 ? 0xffffffff : bytes.readUInt32LE()
  }

  /** Bytes of a sector; none past the end, as for the numbers that stand for none. */
  #read(sector: number, offset: number, length: number): Promise<Buffer> {
    return bufferAt(this.#content, (sector + 1) * this.#size + offset, length)
  }
}
