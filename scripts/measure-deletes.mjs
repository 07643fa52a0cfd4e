// Cost of having each delete on disk before `unlink` returns: documents deleted one after another, as `rm -r` does, as it
// is and with fsync of their folder after each. The state folder is on the disk of TMPDIR. Needs `npm run build`.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createClient } from '../dist/api/index.js'
import { createFileSystem } from '../dist/fs/file-system.js'
import { startService } from '../dist/service/index.js'

const documents = 300
const rounds = 3
const root = 1
const caller = { signal: new AbortController().signal, uid: 0, gid: 0, pid: process.pid }
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const nameOf = (index) => `${index}.txt`

const folder = await mkdtemp(join(tmpdir(), 'docmount-deletes-'))
const service = await startService({ dataDir: join(folder, 'service'), projects: ['deletes'] })
const client = createClient({
  baseUrl: `http://127.0.0.1:${service.port}/api`,
  apiKey: await service.createKey('deletes'),
})
const files = client.files('deletes')

async function fill() {
  const content = { kind: 'bytes', size: 1, open: async function* () { yield Buffer.from('x') } } // prettier-ignore
  for (let at = 0; at < documents; at += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        files.upload(`/${nameOf(at + index)}`, { mimetype: 'text/plain', filename: 'x.txt', content }),
      ),
    )
}

async function measure(isSynced) {
  await fill()
  const state = await mkdtemp(join(folder, 'state-'))
  const fileSystem = await createFileSystem({ files, stateDir: state, cacheDir: join(state, 'cache') })
  const each = []
  for (let index = 0; index < documents; index++) {
    const startedAt = performance.now()
    await fileSystem.unlink(root, nameOf(index), caller)
    if (isSynced) await fileSystem.fsyncdir(root, caller)
    each.push(performance.now() - startedAt)
  }
  await fileSystem.drain({ timeoutMs: 60_000 })
  await fileSystem.close()
  return { medianMs: median(each), totalMs: each.reduce((sum, ms) => sum + ms, 0) }
}

try {
  for (const [what, isSynced] of [
    ['as it is', false],
    ['on disk each', true],
  ]) {
    // prettier-ignore
    const runs = []
    for (let round = 0; round < rounds; round++) runs.push(await measure(isSynced))
    const [medianMs, totalMs] = ['medianMs', 'totalMs'].map((key) => median(runs.map((run) => run[key])))
    console.log(
      `${what.padEnd(14)} one ${medianMs.toFixed(2).padStart(6)} ms   ${documents} in a row ${totalMs.toFixed(0).padStart(6)} ms`,
    )
  }
} finally {
  await client.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
}
