// Rows of the fault table in docs/reliability.md. Another client changed the same document: both versions are kept.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('other clients', () => {
  const fault = useFaultDrive()

  it('a version nobody here has seen is kept beside ours', async () => {
    await fault.service.other.put('/a.txt', 'first')
    const { calls, drain, status } = await fault.mount()
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await fault.service.other.put('/a.txt', 'theirs')
    await file.close()
    await drain()
    expect(await fault.held('/a.txt')).toBe('ours!')
    const names = ((await fault.service.other.get('/'))?.entries ?? []).map(({ name }) => name)
    const copy = names.find((name) => /^a \(conflict \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d .+\)\.txt$/.test(name))
    expect(await fault.held(`/${copy}`)).toBe('theirs')
    expect((await status()).conflicts).toBe(1)
  })

  it('a kept version shows in its folder at once, however long listings are believed', async () => {
    await fault.service.other.put('/in/a.txt', 'first')
    const { calls, drain } = await fault.mount(['--cache-ttl', '10m'])
    expect(await calls.readdir('/in')).toEqual(['a.txt'])
    const file = await calls.open('/in/a.txt', 'r+')
    await file.write('ours!', 0)
    await fault.service.other.put('/in/a.txt', 'theirs')
    await file.close()
    await drain()
    await waitUntil('the copy to show', async () => (await calls.readdir('/in')).length === 2)
    const copy = (await calls.readdir('/in')).find((name) => name.includes('(conflict '))
    expect((await calls.readFile(`/in/${copy}`)).toString()).toBe('theirs')
  })

  it('two versions of the same size within one second are both kept beside ours', async () => {
    await fault.service.other.put('/a.txt', 'first')
    const { calls, drain } = await fault.mount()
    await calls.readFile('/a.txt')
    for (const [ours, theirs] of [
      ['ours 1', 'theirs 1'],
      ['ours 2', 'theirs 2'],
    ] as const) {
      const file = await calls.open('/a.txt', 'r+')
      await file.write(ours, 0)
      await fault.service.other.put('/a.txt', theirs)
      await file.close()
    }
    await drain()
    const entries = (await fault.service.other.get('/'))?.entries ?? []
    const contents = await Promise.all(entries.map(({ name }) => fault.held(`/${name}`)))
    expect(contents.toSorted((a, b) => (a ?? '').localeCompare(b ?? ''))).toEqual([
      'ours 2',
      'theirs 1',
      'theirs 2',
    ])
  })

  it('--on-conflict overwrite keeps no copy', async () => {
    await fault.service.other.put('/a.txt', 'first')
    const { calls, drain } = await fault.mount(['--on-conflict', 'overwrite'])
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await fault.service.other.put('/a.txt', 'theirs')
    await file.close()
    await drain()
    expect(await fault.held('/a.txt')).toBe('ours!')
    expect((await fault.service.other.get('/'))?.entries).toHaveLength(1)
  })

  it('deleted by another client while it is written here: uploaded again', async () => {
    await fault.service.other.put('/a.txt', 'first')
    const { calls, drain } = await fault.mount()
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await fault.service.other.delete('/a.txt')
    await file.close()
    await drain()
    expect(await fault.held('/a.txt')).toBe('ours!')
  })

  it('deleted here while the service was away, saved anew by another client meanwhile: their version stays', async () => {
    await fault.service.other.put('/a.txt', 'first')
    const { calls, drain, unsent } = await fault.mount(['--cache-ttl', '10m'])
    await calls.readFile('/a.txt')
    const { faults } = fault.service.service
    const clear = faults.inject({ kind: 'status', status: 503 }, { method: 'DELETE' })
    await calls.unlink('/a.txt')
    await waitUntil('the delete to have failed', () => faults.hits > 0)
    await waitUntil(
      'the delete to wait for its next try',
      async () => (await unsent())[0]?.state === 'retrying',
    )
    clear()
    await fault.service.other.put('/a.txt', 'saved anew')
    await drain()
    expect(await fault.held('/a.txt')).toBe('saved anew')
  })
})
