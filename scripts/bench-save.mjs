// Processor time per save of 2,000 bytes, from the built spool and journal of a work tree. Started by `scripts/bench-save`.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [, , place = '.', count = '3000'] = process.argv
const saves = Number(count)
const warmUp = 500
const root = resolve(place)
const dist = (file) => import(join(root, 'dist/content', file))
const { realWorld } = await import(join(root, 'dist/world/world.js'))
const { Journal } = await dist('spool/journal.js')
const { Spool } = await dist('spool/spool.js')
const { intend } = await dist('intention.js')
const Database = createRequire(join(root, 'package.json'))('libsql')

const bytes = Buffer.alloc(2_000, 7)
const figures = new Map()

async function measured(step, work) {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  figures.set(step, (figures.get(step) ?? 0) + user + system)
  return result
}

async function save({ journal, spool }, i) {
  const file = await measured('a spool file is made and written', async () => {
    const made = spool.create(`f${i}.txt`)
    await made.write(0, bytes)
    return made
  })
  await measured('its digest is taken', () => spool.secure(file))
  const { id, digest } = file
  const draft = { kind: 'put', path: `/d/f${i}.txt`, spool: id, size: bytes.length, digest }
  const intention = intend(journal.intentions.nextId(), draft, Date.now())
  await measured('content and intention are journaled', () =>
    journal.transaction(() => {
      journal.intentions.save(intention)
      spool.journal(file, intention.path)
    }),
  )
  await measured('the intention is done', () =>
    journal.transaction(() => journal.intentions.remove(intention.id)),
  )
  await measured('the spool file is removed', () => spool.remove(id))
}

function transactions(db) {
  const insert = db.prepare('insert or replace into t (id, a) values (?, ?)')
  const [begin, commit] = [db.prepare('begin immediate'), db.prepare('commit')]
  const ways = {
    'one row, begin and commit as text': (i) => {
      db.exec('begin immediate')
      insert.run(i, 'a')
      db.exec('commit')
    },
    'one row, begin and commit prepared': (i) => {
      begin.run()
      insert.run(i, 'a')
      commit.run()
    },
  }
  for (const [way, run] of Object.entries(ways)) {
    for (let i = 0; i < warmUp; i++) run(i)
    const before = process.cpuUsage()
    for (let i = 0; i < saves; i++) run(i)
    const { user, system } = process.cpuUsage(before)
    figures.set(way, user + system)
  }
}

function print() {
  console.log('| processor time of a save of 2,000 bytes | µs |\n|---|--:|')
  for (const [step, us] of figures) console.log(`| ${step} | ${(us / saves).toFixed(0)} |`)
}

const dir = mkdtempSync(join(tmpdir(), 'docmount-bench-save-'))
const journal = new Journal(dir, realWorld())
const parts = { journal, spool: new Spool(join(dir, 'spool'), journal.contents, realWorld()) }
for (let i = 0; i < warmUp; i++) await save(parts, i)
figures.clear()
for (let i = 0; i < saves; i++) await save(parts, i)
figures.set(
  'together',
  [...figures.values()].reduce((sum, us) => sum + us),
)
const db = new Database(join(dir, 'beside.db'))
db.exec(
  'pragma journal_mode = wal; pragma synchronous = normal; create table t (id integer primary key, a text)',
)
transactions(db)
print()
journal.close()
rmSync(dir, { recursive: true })
