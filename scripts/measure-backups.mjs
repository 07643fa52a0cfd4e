// Cost of a first backup and of the next one beside it, of which few documents are new: seconds and room on the disk. The folders
// are on the disk of TMPDIR. Needs `npm run build`.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createClient } from '../dist/api/index.js'
import { makeBackup } from '../dist/service/backup/make-backup.js'
import { startService } from '../dist/service/index.js'

const documents = 2_000
const added = 20
const bytes = 64 * 1024

const folder = await mkdtemp(join(tmpdir(), 'docmount-backups-'))
const dataDir = join(folder, 'data')
const service = await startService({ dataDir, projects: ['backups'] })
const client = createClient({
  baseUrl: `http://127.0.0.1:${service.port}/api`,
  apiKey: await service.createKey('backups'),
})
const files = client.files('backups')

async function store(from, count) {
  for (let at = from; at < from + count; at += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, next) => {
        const piece = randomBytes(bytes)
        const content = { kind: 'bytes', size: bytes, open: async function* () { yield piece } } // prettier-ignore
        return files.upload(`/${at + next}.txt`, {
          mimetype: 'text/plain',
          filename: 'x.txt',
          content,
        })
      }),
    )
}

const megabytes = () => Number(execFileSync('du', ['-sk', join(folder, 'backups')], { encoding: 'utf8' }).split('\t')[0]) / 1024 // prettier-ignore

try {
  await store(0, documents)
  await mkdir(join(folder, 'backups'))
  let before = 0
  for (const [name, count] of [
    ['first', 0],
    ['next', added],
  ]) {
    // prettier-ignore
    await store(documents, count)
    const begun = performance.now()
    const { contents, linked = 0 } = await makeBackup(dataDir, join(folder, 'backups', name))
    const seconds = (performance.now() - begun) / 1000
    const room = megabytes()
    console.log(
      `${name}: ${contents} contents, ${linked} of them linked: ${seconds.toFixed(1)} s, ${(room - before).toFixed(0)} MiB`,
    )
    before = room
  }
} finally {
  await service.close()
  await rm(folder, { recursive: true, force: true })
}
