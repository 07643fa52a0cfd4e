// Reads 4 KiB at so many random places of a file, one after another: FILE COUNT SEED.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const [file = '', count = '1', seed = '0'] = process.argv.slice(2)
const fd = openSync(file, 'r')
const pages = Math.floor(fstatSync(fd).size / 4096)
const buffer = Buffer.alloc(4096)
let state = (Number(seed) + 1) * 2_654_435_761
for (let at = 0; at < Number(count); at++) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  if (readSync(fd, buffer, 0, 4096, (state % pages) * 4096) !== 4096) throw new Error('short read')
}
closeSync(fd)
