// Room for the journal: it has what it sets aside for itself, or leaves it to others.

import { mkdtempSync, rmSync, statSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Journal } from '../../../src/content/spool/journal.ts'
import { realWorld } from '../../../src/world/world.ts'
import { run } from '../../support/run.ts'

const isRoot = process.getuid?.() === 0
const mebibyte = 2 ** 20

describe.skipIf(!isRoot)('the room of the journal', () => {
  let dir: string

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'journal-room-'))
  })

  afterEach(async () => {
    await run('umount', ['-l', dir], { mayFail: true })
    rmSync(dir, { recursive: true, force: true })
  })

  async function open(size: string): Promise<{ freeBytes: number; logBytes: number }> {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', dir])
    const journal = new Journal(dir, realWorld())
    const { bavail, bsize } = statfsSync(dir)
    const { size: logBytes } = statSync(join(dir, 'journal.db-wal'))
    journal.close()
    return { freeBytes: bavail * bsize, logBytes }
  }

  it('is taken whole', async () => {
    expect((await open('16m')).logBytes).toBeGreaterThan(4 * mebibyte)
  })

  it('is left to the documents where the disk has only a part of it', async () => {
    const { freeBytes, logBytes } = await open('4m')
    expect(logBytes).toBeLessThan(2 * mebibyte)
    expect(freeBytes).toBeGreaterThan(mebibyte)
  })
})

it('a kill while the room was set aside keeps no later start from it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'journal-room-'))
  try {
    const database = new Database(join(dir, 'journal.db'))
    database.exec('create table room (bytes blob)')
    database.close()
    new Journal(dir, realWorld()).close()
  } finally {
    rmSync(dir, { recursive: true })
  }
})
