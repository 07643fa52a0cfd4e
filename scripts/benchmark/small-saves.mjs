// Overwrites COUNT small documents, one after another: FOLDER COUNT BYTES.

import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', count = '1', bytes = '2000'] = process.argv.slice(2)
const content = Buffer.alloc(Number(bytes), 'saved again ')
for (let at = 0; at < Number(count); at++) {
  const fd = openSync(join(folder, `memo-${String(at).padStart(3, '0')}.txt`), 'w')
  writeSync(fd, content)
  closeSync(fd)
}
