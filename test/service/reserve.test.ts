// The room kept for deletions: given up piece by piece, and what is left of it stays where the disk has no room for the rest.

import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Reserve } from '../../src/service/store/reserve.ts'
import { run } from '../support/run.ts'

const mebibyte = 1024 * 1024
const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot)('the reserve', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docmount-reserve-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=0700', 'tmpfs', folder])
  })
  afterEach(async () => {
    await run('umount', ['-l', folder], { mayFail: true })
    await rm(folder, { recursive: true, force: true })
  })

  test('gives up a piece at a time, and keeps the rest where another program took what it gave', async () => {
    const file = join(folder, 'reserve')
    const reserve = new Reserve(file)
    reserve.make()
    expect(reserve.isWhole).toBe(true)
    expect(statSync(file).size).toBe(16 * mebibyte)

    expect(reserve.giveUpPiece()).toBe(true)
    expect(reserve.isWhole).toBe(false)
    await run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', folder])
    reserve.make()
    expect(reserve.isWhole).toBe(false)
    expect(statSync(file).size).toBe(15 * mebibyte)

    await rm(join(folder, 'theirs'))
    reserve.make()
    expect(reserve.isWhole).toBe(true)
    expect(statSync(file).size).toBe(16 * mebibyte)
  })

  test('says so when nothing is left to give', () => {
    const reserve = new Reserve(join(folder, 'reserve'))
    reserve.make()
    let pieces = 0
    while (reserve.giveUpPiece()) pieces++
    expect(pieces).toBe(16)
    expect(reserve.giveUpPiece()).toBe(false)
  })
})
