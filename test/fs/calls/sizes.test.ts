// Documents whose listing does not tell their size are asked themselves, and may be gone by then.

import { beforeEach, describe, expect, it } from 'vitest'
import { createClock, type Clock } from '../../../src/world/clock.ts'
import { realWorld } from '../../../src/world/world.ts'
import { openParts } from '../../support/open-parts.ts'
import { useRestartedFileSystem } from '../../support/restarted-file-system.ts'
import { waitUntil } from '../../support/wait-until.ts'

const drive = useRestartedFileSystem({ cacheTtlMs: 600_000, closeWaitMs: 0 })

beforeEach(async () => {
  const { service, other } = drive.service
  await other.put('/d/a.txt', 'a')
  await other.put('/d/b.txt', 'b')
  await drive.start()
  service.faults.inject({ kind: 'omit-fields', fields: ['size'] }, { method: 'GET', path: '/d' })
  expect((await drive.calls.readdir('/d')).toSorted()).toEqual(['a.txt', 'b.txt'])
})

const stat = (): Promise<unknown> => drive.calls.stat('/d/a.txt')

it('one that is gone is shown no more, also when the service is away then', async () => {
  await drive.service.other.delete('/d/a.txt')
  await expect(stat()).rejects.toMatchObject({ code: 'ENOENT' })
  await drive.service.stop()
  await drive.calls.writeFile('/d/c.txt', 'c')
  await waitUntil('it to be away', () => drive.fileSystem.status().service === 'away')
  expect((await drive.calls.readdir('/d')).toSorted()).toEqual(['b.txt', 'c.txt'])
  await expect(stat()).rejects.toMatchObject({ code: 'ENOENT' })
})

it('one that its folder still has is there, whatever it was answered itself', async () => {
  const { faults } = drive.service.service
  faults.inject({ kind: 'status', status: 404 }, { method: 'GET', path: '/d/a.txt', times: 1 })
  await expect(stat()).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await stat()).toMatchObject({ size: 1 })
})

it('one that may be gone is not said to be where its folder cannot be asked', async () => {
  const { faults } = drive.service.service
  await drive.service.other.delete('/d/a.txt')
  faults.inject({ kind: 'status', status: 500 }, { method: 'GET', path: '/d' })
  await expect(stat()).rejects.toMatchObject({ code: 'EIO' })
})

it('many that are gone at once cost one look at their folder', async () => {
  const { service, other } = drive.service
  await other.delete('/d')
  await other.put('/d/c.txt', 'c')
  service.clearCalls()
  const both = ['/d/a.txt', '/d/b.txt'].map((path) => drive.calls.stat(path))
  for (const result of await Promise.allSettled(both))
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ENOENT' } })
  expect(service.calls.filter(({ path }) => path === '/d')).toHaveLength(1)
})

describe('one that was renamed, of which the service has not heard', () => {
  const moved = (): Promise<unknown> => drive.calls.stat('/d/c.txt')
  /** How often the service is not ready for it: each time the next attempt comes a second later, or more. */
  const rename = async (times: number): Promise<void> => {
    const { faults } = drive.service.service
    faults.inject({ kind: 'status', status: 503 }, { method: 'PUT', path: '/d/c.txt', times })
    // Nor does it tell the rename.
    faults.inject({ kind: 'status', status: 403 }, { method: 'GET', path: '/d/a.txt', times: 1 })
    await drive.calls.rename('/d/a.txt', '/d/c.txt')
  }

  it('is as long as it is where it was', async () => {
    await rename(1_000)
    expect(await moved()).toMatchObject({ size: 1 })
  })

  it('is as long as it is where it has come by the time it is asked for', async () => {
    await rename(1)
    const { faults } = drive.service.service
    faults.inject({ kind: 'status', status: 404 }, { method: 'GET', path: '/d/a.txt', times: 1 })
    expect(await moved()).toMatchObject({ size: 1 })
  })

  it('has no size, rather than none of its bytes, while the service is away', async () => {
    await rename(1_000)
    await drive.service.stop()
    await waitUntil('it to be away', () => drive.fileSystem.status().service === 'away')
    await expect(moved()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await drive.service.start()
    await waitUntil('it to be back', () => drive.fileSystem.status().service !== 'away')
    expect(await moved()).toMatchObject({ size: 1 })
  })
})

/** Its documents, by name. */
async function inService(): Promise<Record<string, string>> {
  const documents = (await drive.service.other.documents('/d')) ?? new Map<string, Buffer>()
  return Object.fromEntries([...documents].map(([name, bytes]) => [name, bytes.toString()]))
}

// A program that makes these calls has not looked at the name: the listing may be of a moment ago, and another program's.
it.each([
  ['renamed over', []],
  ['deleted, and saved again', [() => drive.calls.unlink('/d/a.txt')]],
  ['made a backup of, and saved again', [() => drive.calls.rename('/d/a.txt', '/d/a.txt~')]],
])('one that nobody has asked for is replaced, and not kept beside: %s', async (_how, before) => {
  await drive.calls.writeFile('/d/.goutputstream-1', 'another')
  for (const step of before) await step()
  await drive.calls.rename('/d/.goutputstream-1', '/d/a.txt')
  await drive.fileSystem.drain({ timeoutMs: 20_000 })
  const { 'a.txt~': _backup, ...documents } = await inService()
  expect(documents).toEqual({ 'a.txt': 'another', 'b.txt': 'b' })
})

it.each([true, false])(
  'one that another client saves after it was listed is kept beside (asked for before: %s)',
  async (isAsked) => {
    if (isAsked) await stat()
    await drive.service.other.put('/d/a.txt', 'theirs')
    await drive.calls.writeFile('/d/.goutputstream-1', 'ours')
    await drive.calls.rename('/d/.goutputstream-1', '/d/a.txt')
    await drive.fileSystem.drain({ timeoutMs: 20_000 })
    expect(Object.values(await inService()).toSorted()).toEqual(['b', 'ours', 'theirs'])
  },
)

it('one that cannot be asked for now is renamed over all the same', async () => {
  const { faults } = drive.service.service
  faults.inject({ kind: 'status', status: 403 }, { method: 'GET', path: '/d/a.txt', times: 1 })
  await drive.calls.writeFile('/d/.goutputstream-1', 'ours')
  await drive.calls.rename('/d/.goutputstream-1', '/d/a.txt')
  await drive.fileSystem.drain({ timeoutMs: 20_000 })
  expect((await inService())['a.txt']).toBe('ours')
})

/** A clock that can be set forward: what is due by then is due at once. */
function settableClock(): Clock & { forward(ms: number): void } {
  const real = createClock()
  let forwardMs = 0
  const monotonic = (): number => real.monotonic() + forwardMs
  const waiting = new Set<{ dueAt: number; run: () => void }>()
  return {
    ...createClock(Date.now, monotonic),
    setTimeout(run, ms) {
      const one = { dueAt: monotonic() + ms, run }
      waiting.add(one)
      return real.setTimeout(() => waiting.delete(one) && run(), ms)
    },
    forward(ms) {
      forwardMs += ms
      for (const one of waiting) if (one.dueAt <= monotonic() && waiting.delete(one)) one.run()
    },
  }
}

it('one whose size only its content tells is not asked for beyond the time of one look', async () => {
  const clock = settableClock()
  await using parts = await openParts({ '/d/a.txt': 'a' }, { world: { ...realWorld(), clock } })
  const { faults, calls } = parts.service.service
  const asked = (endpoint: string): Promise<unknown> =>
    waitUntil(`it to be asked (${endpoint})`, () =>
      calls.some((call) => call.endpoint === endpoint && call.status === undefined),
    )
  faults.inject({ kind: 'omit-fields', fields: ['size'] })
  await parts.calls.readdir('/d')
  faults.inject({ kind: 'latency', ms: 1_000 }, { path: '/d/a.txt' })
  const size = parts.calls.stat('/d/a.txt')
  const outcome = expect(size).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await asked('files')
  clock.forward(10_000)
  await asked('download')
  clock.forward(4_000)
  await outcome
})
