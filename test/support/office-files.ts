// Office files for tests, built byte by byte: OLE files with given streams, and zips with parts in a given order.

import { strToU8, zipSync } from 'fflate'

/** An OLE folder (storage): streams (strings) and storages by name. */
export interface Storage {
  readonly [name: string]: string | Storage
}

interface Entry {
  readonly name: string
  readonly type: number
  left: number
  child: number
}

const none = 0xffffffff
const endOfChain = 0xfffffffe

/**
 * Returns an OLE file with these streams. `sectorBytes`: 512 or 4096. `sectorsBefore`: padding sectors before the directory, whose
 * own sectors are in reverse order, so that a reader must follow the chain.
 */
export function oleFile(root: Storage, { sectorBytes = 512, sectorsBefore = 1 } = {}): Buffer {
  const directory = directoryOf(root, sectorBytes)
  const perSector = sectorBytes / 4
  const directorySectors = directory.length / sectorBytes
  const contentSectors = sectorsBefore + directorySectors
  let tables = 1
  let furtherTables = 0
  while (tables * perSector < contentSectors + tables + furtherTables) {
    tables++
    furtherTables = Math.ceil(Math.max(0, tables - 109) / (perSector - 1))
  }

  const next = new Uint32Array(tables * perSector).fill(none)
  const last = contentSectors - 1
  for (let index = 0; index < directorySectors; index++)
    next[last - index] = index === directorySectors - 1 ? endOfChain : last - index - 1
  const tableSectors = Array.from({ length: tables }, (_, index) => contentSectors + index)
  const further = Array.from({ length: furtherTables }, (_, index) => contentSectors + tables + index)

  const file = Buffer.alloc(sectorBytes * (1 + contentSectors + tables + furtherTables))
  file.write('d0cf11e0a1b11ae1', 'hex')
  file.writeUInt16LE(sectorBytes === 512 ? 3 : 4, 26)
  file.writeUInt16LE(0xfffe, 28)
  file.writeUInt16LE(Math.log2(sectorBytes), 30)
  file.writeUInt32LE(tables, 44)
  file.writeUInt32LE(last, 48)
  file.writeUInt32LE(further[0] ?? endOfChain, 68)
  for (let index = 0; index < 109; index++) file.writeUInt32LE(tableSectors[index] ?? none, 76 + index * 4)
  const at = (sector: number): number => (sector + 1) * sectorBytes
  for (const [index, sector] of further.entries()) {
    const from = 109 + index * (perSector - 1)
    for (let slot = 0; slot < perSector - 1; slot++)
      file.writeUInt32LE(tableSectors[from + slot] ?? none, at(sector) + slot * 4)
    file.writeUInt32LE(further[index + 1] ?? endOfChain, at(sector) + (perSector - 1) * 4)
  }
  for (let index = 0; index < directorySectors; index++)
    directory.copy(file, at(last - index), index * sectorBytes, (index + 1) * sectorBytes)
  for (const [sector, value] of next.entries()) file.writeUInt32LE(value, at(contentSectors) + sector * 4)
  return file
}

/** Returns the directory's entries. The binary tree of each folder is a list of left children. */
function directoryOf(root: Storage, sectorBytes: number): Buffer {
  const entries: Entry[] = [{ name: 'Root Entry', type: 5, left: none, child: none }]
  const add = (folder: Storage): number => {
    let left = none
    for (const [name, content] of Object.entries(folder)) {
      const isStream = typeof content === 'string'
      const entry = { name, type: isStream ? 2 : 1, left, child: none }
      left = entries.push(entry) - 1
      if (!isStream) entry.child = add(content)
    }
    return left
  }
  const [first] = entries
  if (first !== undefined) first.child = add(root)
  const bytes = Buffer.alloc(Math.ceil((entries.length * 128) / sectorBytes) * sectorBytes)
  for (const [index, { name, type, left, child }] of entries.entries()) {
    const at = index * 128
    bytes.write(name, at, 'utf16le')
    bytes.writeUInt16LE((name.length + 1) * 2, at + 64)
    bytes.writeUInt8(type, at + 66)
    bytes.writeUInt32LE(left, at + 68)
    bytes.writeUInt32LE(none, at + 72)
    bytes.writeUInt32LE(child, at + 76)
  }
  return bytes
}

const contentTypes = '[Content_Types].xml'

/** Returns a `[Content_Types].xml` that gives the main part the content type `main`. */
export function typesOf(main: string): string {
  return `<?xml version="1.0"?><Types><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/><Override PartName="/main.xml" ContentType="${main}"/></Types>`
}

export const workbookTypes: string = typesOf(
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
)

/** Returns a zip-based Office file. `before`, `after`: bytes of uncompressed parts before and after `[Content_Types].xml`. */
export function officeZip(
  types: string,
  { before = 0, after = 0, comment = '', isPacked = true } = {},
): Buffer {
  const filling = (length: number): [Uint8Array, { level: 0 }] => [
    new Uint8Array(length).fill(0x5a),
    { level: 0 },
  ]
  const zip = Buffer.from(
    zipSync({
      'xl/first.bin': filling(before),
      [contentTypes]: [strToU8(types), { level: isPacked ? 6 : 0 }],
      'xl/last.bin': filling(after),
    }),
  )
  if (comment === '') return zip
  zip.writeUInt16LE(comment.length, zip.length - 2)
  return Buffer.concat([zip, Buffer.from(comment, 'latin1')])
}
