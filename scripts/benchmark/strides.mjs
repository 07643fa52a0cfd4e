// Reads 4 KiB every 68 KB of a file, forwards, as a viewer does with a scanned document: FILE.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const fd = openSync(process.argv[2] ?? '', 'r')
const { size } = fstatSync(fd)
const buffer = Buffer.alloc(4096)
for (let at = 0; at + buffer.length <= size; at += 68_000) {
  if (readSync(fd, buffer, 0, buffer.length, at) !== buffer.length) throw new Error('short read')
}
closeSync(fd)
