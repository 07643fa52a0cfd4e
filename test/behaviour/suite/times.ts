// Times and permission bits: kept on this machine, since the service has no place for them.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

/** 2001-02-03 04:05:06 UTC. */
const longAgoSec = 981_173_106
const longAgoNs = BigInt(longAgoSec) * 1_000_000_000n

export const times: Topic = (it) => {
  it('a modification time that was set is told', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('access time and modification time are set apart', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec + 86_400, longAgoSec)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set after a write outlives reading', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.readFile(at('a.txt'))
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set while the file is open outlives its close', async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('a', 0)
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await file.close()
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time goes with the file when it is renamed', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.rename(at('a.txt'), at('b.txt'))
    expect((await door.stat(at('b.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set on a temporary file goes with its rename, as rsync does it', async ({
    door,
    at,
  }) => {
    const temporary = at('.a.txt.X7b2Qe')
    const file = await door.open(temporary, 'wx', 0o600)
    await file.write('a', 0)
    await file.close()
    await door.utimes(temporary, longAgoSec, longAgoSec)
    await door.chmod(temporary, 0o644)
    const again = await door.open(temporary, 'r')
    await again.close()
    await door.rename(temporary, at('a.txt'))
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a write moves the modification time on', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.appendFile(at('a.txt'), 'b')
    expect((await door.stat(at('a.txt'))).mtimeNs).toBeGreaterThan(longAgoNs)
  })

  it('fractions of a second are kept', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec + 0.25, longAgoSec + 0.25)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs + 250_000_000n)
  })

  it('permission bits that were set are told', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.chmod(at('a.txt'), 0o640)
    expect((await door.stat(at('a.txt'))).mode).toBe(0o640)
  })
}
