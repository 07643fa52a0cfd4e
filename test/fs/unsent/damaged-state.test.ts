// A state folder that was damaged: nothing is deleted that is not understood, the mount goes on, and says what happened.

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { patternedBytes } from '../../support/bytes.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { useState } from './state-setup.ts'

const state = useState()

const documents = [100, 5_000, 20_000, 100_000, 200_000, 300_000, 400_000, 1_000_000].map((size) => ({
  path: `/in/${size}.pdf`,
  content: patternedBytes(size, `${size}`),
}))

const files = (): string[] => readdirSync(state.stateDir).filter((name) => name.startsWith('journal.db'))
const at = (name: string): string => join(state.stateDir, name)

function flip(file: string, count: number, seed: string): void {
  const bytes = readFileSync(file)
  for (let index = 0; index < count; index++) {
    const place = createHash('sha256').update(`${seed} ${index}`).digest().readUInt32BE() % bytes.length
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (index % 8))
  }
  writeFileSync(file, bytes)
}

const damages: Readonly<Record<string, () => void>> = {
  'random bytes': () => writeFileSync(at('journal.db'), patternedBytes(50_000, 'random')),
  'random bytes, no log'() {
    writeFileSync(at('journal.db'), patternedBytes(50_000, 'random'))
    rmSync(at('journal.db-wal'))
  },
  'a truncated database': () =>
    truncateSync(at('journal.db'), Math.floor(statSync(at('journal.db')).size / 2)),
  'an emptied database': () => truncateSync(at('journal.db'), 0),
  'a missing database': () => rmSync(at('journal.db')),
  'a missing log': () => rmSync(at('journal.db-wal')),
  'an emptied log': () => truncateSync(at('journal.db-wal'), 0),
  'a truncated log': () => truncateSync(at('journal.db-wal'), 60_000),
  'a zeroed log': () =>
    writeFileSync(at('journal.db-wal'), Buffer.alloc(statSync(at('journal.db-wal')).size)),
  'twenty flipped bits in the log': () => flip(at('journal.db-wal'), 20, 'log'),
  'nothing left of either'() {
    for (const name of files()) rmSync(at(name))
  },
  'twenty flipped bits in the database'() {
    checkpoint()
    flip(at('journal.db'), 20, 'database')
  },
  'a flipped bit in every row'() {
    checkpoint()
    const bytes = readFileSync(at('journal.db'))
    for (let found = bytes.indexOf('/in/'); found !== -1; found = bytes.indexOf('/in/', found + 8))
      bytes[found + 5] = (bytes[found + 5] ?? 0) ^ 1
    writeFileSync(at('journal.db'), bytes)
  },
}

/** Everything into the database, nothing in the log. */
function checkpoint(): void {
  const db = new Database(at('journal.db'))
  db.exec('pragma wal_checkpoint(truncate)')
  db.close()
}

describe('a damaged journal', () => {
  test.each(Object.keys(damages))(
    '%s: every document that was saved is sent, or in lost+found',
    async (kind) => {
      await state.start()
      await state.calls.readdir('')
      await state.calls.mkdir('/in')
      await state.service.stop()
      for (const { path, content } of documents) await state.calls.writeFile(path, content)
      await state.end()
      damages[kind]?.()
      await state.service.start()
      await state.start()
      expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
      const { lost } = state.fileSystem.status()
      const given = join(state.stateDir, 'given')
      mkdirSync(given)
      const recovered = await state.fileSystem.recoverLost(given)
      expect(recovered).toHaveLength(lost.length)
      for (const { path, content } of documents) {
        const isSent = (await state.service.other.get(path)) !== undefined
        const found = isSent ? await state.service.other.bytes(path) : readFileSync(join(given, path))
        expect([path, found.equals(content)]).toEqual([path, true])
        expect(lost.some((one) => one.path === path)).toBe(!isSent)
      }
      if (lost.length > 0) expect(state.logged).toContainEqual(expect.stringMatching(/kept in lost\+found/))
      expect(state.fileSystem.status().lost).toEqual([])
      await state.calls.writeFile('/after.txt', 'the drive goes on')
      expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
    },
  )

  test('is set aside under a dated name, and named', async () => {
    await state.start()
    await state.service.stop()
    await state.calls.writeFile('/a.txt', 'saved')
    await state.end()
    damages['random bytes']?.()
    const before = readFileSync(at('journal.db'))
    await state.service.start()
    await state.start()
    const { damaged } = state.fileSystem.status()
    expect(damaged).toHaveLength(1)
    expect(damaged[0]).toMatch(/journal\.db\.damaged-\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d$/)
    expect(readFileSync(damaged[0] ?? '').equals(before)).toBe(true)
    expect(state.logged).toContainEqual(expect.stringMatching(/the journal was damaged: set aside as/))
    expect(state.fileSystem.status().trouble).toHaveLength(1)
    const [kept = ''] = state.fileSystem.dismissDamage()
    expect(kept).toBe(damaged[0]?.replace('.damaged-', '.dismissed-'))
    expect(readFileSync(kept).equals(before)).toBe(true)
    expect(state.fileSystem.status()).toMatchObject({ damaged: [], trouble: [] })
    await state.end()
    await state.start()
    expect(state.fileSystem.status()).toMatchObject({ damaged: [], trouble: [] })
    expect(readFileSync(kept).equals(before)).toBe(true)
  })

  test('gives what can still be read of it', async () => {
    await state.start()
    await state.service.stop()
    for (const { path, content } of documents) await state.calls.writeFile(path.slice(3), content)
    await state.end()
    checkpoint()
    // A page in the middle that is none.
    const db = readFileSync(at('journal.db'))
    const page = db.lastIndexOf('"source"') === -1 ? Math.floor(db.length / 4096 / 2) : 3
    writeFileSync(
      at('journal.db'),
      Buffer.concat([db.subarray(0, page * 4096), Buffer.alloc(4096, 7), db.subarray((page + 1) * 4096)]),
    )
    await state.service.start()
    await state.start()
    await state.fileSystem.drain({ timeoutMs: 20_000 })
    const { lost } = state.fileSystem.status()
    for (const { path, content } of documents) {
      const name = path.slice(3)
      if (lost.some((one) => one.path === name)) continue
      expect((await state.service.other.bytes(name)).equals(content)).toBe(true)
    }
  })
})

describe('what no row names', () => {
  test('and was written and never closed is kept, what is empty is not', async () => {
    await state.start()
    const written = await state.calls.open('/written.txt', 'w')
    await written.write('half a s', 0)
    await state.calls.open('/empty.txt', 'w')
    await state.end()
    await state.start()
    expect(state.fileSystem.status().lost).toMatchObject([{ name: 'written.txt', path: undefined, bytes: 8 }])
    expect(readdirSync(at('spool'))).toEqual([])
  })

  test('and was sent, or unlinked while it was open, is not kept', async () => {
    await state.start()
    const file = await state.calls.open('/unlinked.txt', 'w')
    await file.write('nobody wants it', 0)
    await state.calls.unlink('/unlinked.txt')
    await state.calls.writeFile('/sent.pdf', patternedBytes(200_000, 'sent'))
    const spool = join(state.stateDir, 'spool')
    const before = new Map(readdirSync(spool).map((name) => [name, readFileSync(join(spool, name))]))
    await state.fileSystem.drain({ timeoutMs: 20_000 })
    await state.end()
    // The power went before the disk had heard of the removals.
    for (const [name, content] of before) writeFileSync(join(state.stateDir, 'spool', name), content)
    await state.start()
    expect(state.fileSystem.status().lost).toEqual([])
  })

  test('is never given back over something, nor outside the folder', async () => {
    await state.start()
    await state.end()
    for (const [id, path] of [
      ['a', '/same.txt'],
      ['b', '/same.txt'],
      ['c', '/../../escaped.txt'],
    ]) {
      writeFileSync(join(state.stateDir, 'spool', id ?? ''), `content ${id}`)
      writeFileSync(join(state.stateDir, 'spool', `${id}.json`), JSON.stringify({ path }))
    }
    await state.start()
    const given = join(state.stateDir, 'given')
    expect([...(await state.fileSystem.recoverLost(given))].sort()).toEqual(
      ['also 2/same.txt', 'escaped.txt', 'same.txt'].map((name) => join(given, name)),
    )
  })
})

describe('other files of the state folder', () => {
  test.each(['random bytes', 'empty'])('a lock file that is %s is made anew', async (kind) => {
    await state.start()
    await state.end()
    rmSync(at('lock.db'))
    writeFileSync(at('lock.db'), kind === 'empty' ? '' : patternedBytes(5_000, 'lock'))
    await state.start()
    expect(await state.calls.readdir('')).toEqual([])
  })

  test.each(['random bytes', 'truncated', 'flipped', 'a folder'])(
    'saved listings that are %s are made anew',
    async (kind) => {
      await state.service.other.put('/a.txt', 'a')
      await state.start()
      expect(await state.calls.readdir('')).toEqual(['a.txt'])
      await waitUntil('the listing to be saved', () => readFileSync(at('listings.db')).includes('a.txt'))
      await state.end()
      if (kind === 'truncated') truncateSync(at('listings.db'), 1_000)
      else if (kind === 'flipped') flip(at('listings.db'), 200, 'listings')
      else if (kind === 'random bytes') writeFileSync(at('listings.db'), patternedBytes(5_000, 'listings'))
      else {
        rmSync(at('listings.db'))
        mkdirSync(join(at('listings.db'), 'inside'), { recursive: true })
      }
      await state.start()
      expect(await state.calls.readdir('')).toEqual(['a.txt'])
      expect(statSync(at('listings.db')).isFile()).toBe(true)
    },
  )

  test('a log of the journal that grew nonsense at its end is read up to there', async () => {
    await state.start()
    await state.service.stop()
    await state.calls.writeFile('/a.txt', 'saved')
    await state.end()
    appendFileSync(at('journal.db-wal'), patternedBytes(20_000, 'nonsense'))
    await state.service.start()
    await state.start()
    await state.fileSystem.drain({ timeoutMs: 20_000 })
    expect((await state.service.other.bytes('/a.txt')).toString()).toBe('saved')
  })
})
