// The journal as others read it, while its daemon writes on.

import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Journal } from '../../../src/content/spool/journal.ts'
import { readJournal } from '../../../src/content/spool/journal-reading.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

/** Moves one spool file from table to table and back, until it is told to end. */
const writer = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require('libsql')
const db = new Database(workerData.path, { timeout: 5000 })
const moves = [
  "begin immediate; delete from content; insert into dropped (spool) values ('s'); commit",
  "begin immediate; delete from dropped; insert into content (spool, bytes) values ('s', x'00'); commit",
]
let count = 0
while (Atomics.load(workerData.isOver, 0) === 0) {
  db.exec(moves[count++ % 2])
  if (count === 2) parentPort.postMessage('moving')
}
db.close()`

test('what a daemon moves meanwhile is read once: neither missed nor doubled', async () => {
  const journal = new Journal(temporary.path, realWorld())
  const isOver = new Int32Array(new SharedArrayBuffer(4))
  const path = join(temporary.path, 'journal.db')
  const moving = new Worker(writer, { eval: true, workerData: { path, isOver } })
  await once(moving, 'message')
  const places = new Set<number>()
  for (let count = 0; count < 500; count++) {
    const { contents, dropped } = readJournal(temporary.path) ?? {}
    places.add(Number(contents?.has('s')) + Number(dropped?.has('s')))
  }
  Atomics.store(isOver, 0, 1)
  await once(moving, 'exit')
  journal.close()
  expect([...places]).toEqual([1])
})
