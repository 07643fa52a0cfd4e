// Requests of people to a drive, beside files: wait, retry, recover and drain, by what is unsent.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrnoError } from '../../../src/errno-error.ts'
import { drain, recoverTo, retry, wait } from '../../../src/fs/control/control.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

const soon = { timeoutMs: 20_000 }

/** The service says no to what is on its way to this path, for good. */
function refuse({ sb }: OpenParts, path: string): void {
  const job = sb.queue.find(path)
  if (job === undefined) throw new Error(`nothing is on its way to ${path}`)
  sb.queue.refuse(job, new ErrnoError('EINVAL', 'not taken'))
}

describe('wait', () => {
  it('is over when everything under the path has arrived, and not before', async () => {
    await using parts = await openParts()
    await wait(parts.sb, '/', { timeoutMs: 0 })
    await parts.calls.writeFile('/a.txt', 'ours')
    const intention = parts.sb.queue.find('/a.txt')?.intention
    await wait(parts.sb, '/elsewhere', { timeoutMs: 0 })
    expect(intention?.notBefore).toBeGreaterThan(0)
    await expect(wait(parts.sb, '/', { timeoutMs: 0 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    // It rests no longer.
    expect(intention?.notBefore).toBe(0)
    const waiting = wait(parts.sb, '/a.txt', soon)
    parts.sb.queue.goOn()
    await waiting
    expect((await parts.service.other.bytes('/a.txt')).toString()).toBe('ours')
  })

  it('does not wait for what is being written, nor for what was refused', async () => {
    await using parts = await openParts()
    const file = await parts.calls.open('/a.txt', 'w')
    await file.write('first', 0)
    await file.sync()
    await file.write('second', 0)
    await expect(wait(parts.sb, '/', soon)).rejects.toMatchObject({ code: 'EBUSY' })
    await file.close()
    refuse(parts, '/a.txt')
    await expect(wait(parts.sb, '/', soon)).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('tells a refusal, or a document that is being written, once everything else has arrived', async () => {
    await using parts = await openParts()
    for (const path of ['/a.txt', '/b.txt', '/c.txt']) await parts.calls.writeFile(path, path)
    refuse(parts, '/a.txt')
    const file = await parts.calls.open('/b.txt', 'r+')
    await file.write('anew', 0)
    const waiting = wait(parts.sb, '/', soon)
    parts.sb.queue.goOn()
    await expect(waiting).rejects.toMatchObject({ code: 'EINVAL' })
    expect((await parts.service.other.bytes('/c.txt')).toString()).toBe('/c.txt')
    await file.close()
  })
})

describe('retry', () => {
  it('tries what waits and what was refused under the path, and counts it', async () => {
    await using parts = await openParts()
    for (const path of ['/a.txt', '/b.txt', '/d/c.txt']) {
      if (path.startsWith('/d')) await parts.calls.mkdir('/d')
      await parts.calls.writeFile(path, path)
    }
    refuse(parts, '/a.txt')
    expect([retry(parts.sb, '/d'), retry(parts.sb, '/a.txt'), retry(parts.sb, '/')]).toEqual([1, 1, 3])
    expect(parts.sb.queue.find('/a.txt')?.intention.isRefused).toBe(false)
    parts.sb.queue.goOn()
    expect(await drain(parts.sb, soon)).toEqual([])
  })
})

describe('recover', () => {
  it('copies out what is unsent, what is open, and what the service has', async () => {
    await using parts = await openParts({ '/given.txt': 'given' })
    await parts.calls.writeFile('/a.txt', 'unsent')
    const file = await parts.calls.open('/open.txt', 'w')
    await file.write('open', 0)
    await parts.calls.stat('/given.txt')
    const contents = ['/a.txt', '/open.txt', '/given.txt'].map(async (path) => {
      const to = join(parts.folder, path.slice(1))
      await recoverTo(parts.sb, path, to)
      return readFile(to, 'utf8')
    })
    expect(await Promise.all(contents)).toEqual(['unsent', 'open', 'given'])
    await file.close()
  })

  it('copies out what is on its way, not what is being written', async () => {
    await using parts = await openParts()
    await parts.calls.writeFile('/a.txt', 'saved')
    const file = await parts.calls.open('/a.txt', 'r+')
    await file.write('wrote', 0)
    await recoverTo(parts.sb, '/a.txt', join(parts.folder, 'a.txt'))
    expect(await readFile(join(parts.folder, 'a.txt'), 'utf8')).toBe('saved')
    await file.close()
  })

  it('makes no file of nothing, and overwrites none', async () => {
    await using parts = await openParts()
    const to = join(parts.folder, 'a.txt')
    await expect(recoverTo(parts.sb, '/a.txt', to)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(readFile(to)).rejects.toMatchObject({ code: 'ENOENT' })
    await parts.calls.writeFile('/a.txt', 'ours')
    await writeFile(to, 'theirs')
    await expect(recoverTo(parts.sb, '/a.txt', to)).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await readFile(to, 'utf8')).toBe('theirs')
  })
})

describe('drain', () => {
  it('sends everything, and tells how much is left', async () => {
    await using parts = await openParts()
    for (const path of ['/a.txt', '/b.txt']) await parts.calls.writeFile(path, 'ours')
    const told: unknown[] = []
    parts.sb.queue.goOn()
    expect(await drain(parts.sb, { ...soon, onProgress: (progress) => told.push(progress) })).toEqual([])
    expect(told[0]).toEqual({ unsent: 2, unsentBytes: 8 })
    expect(told.at(-1)).toEqual({ unsent: 0, unsentBytes: 0 })
  })

  it('leaves what was refused or is being written, and sends the others', async () => {
    await using parts = await openParts()
    for (const path of ['/a.txt', '/b.txt']) await parts.calls.writeFile(path, 'ours')
    const file = await parts.calls.open('/c.txt', 'w')
    await file.write('first', 0)
    await file.sync()
    await file.write('second', 0)
    refuse(parts, '/a.txt')
    parts.sb.queue.goOn()
    const left = await drain(parts.sb, soon)
    expect(left.map(({ path, state }) => [path, state])).toEqual([
      ['/a.txt', 'refused'],
      ['/c.txt', 'pending'],
    ])
    await file.close()
  })

  it('is over when its time is', async () => {
    await using parts = await openParts()
    await parts.calls.writeFile('/a.txt', 'ours')
    expect(await drain(parts.sb, { timeoutMs: 0 })).toMatchObject([{ path: '/a.txt', state: 'pending' }])
  })
})
