// A daemon that is killed between the DELETE of what a save replaces, the refusal of that save, and the upload that puts the old
// version back.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { startGate } from '../support/gate.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('a save that is refused', () => {
  const fault = useFaultDrive()

  it.each([
    ['before it hears of that', 1],
    ['before the old version is put back', 2],
  ])('killed %s: what stood there is put back by the next one', async (_, kept) => {
    await using gate = await startGate(() => Number(new URL(fault.service.baseUrl).port))
    await fault.service.other.put('/a.txt', 'what others read')
    const first = await fault.mount(['--close-wait', '200ms'], { baseUrl: gate.baseUrl })
    await first.docmount(['fetch', `${first.mountpoint}/a.txt`])
    const refuse = (): unknown =>
      fault.service.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 1 })
    refuse()
    let puts = 0
    gate.decide = ({ method }) => (method === 'PUT' && ++puts >= kept ? 'keep' : 'pass')
    await first.calls.writeFile('/a.txt', 'precious').catch(() => {})
    await waitUntil('the upload to be kept', () => gate.kept > 0)
    await waitUntil('the old version to be gone', async () => (await fault.held('/a.txt')) === undefined)
    await first.kill()
    gate.decide = () => 'pass'
    fault.service.service.faults.clear()
    refuse()
    const { calls, unsent, drain, docmount, mountpoint, status } = await fault.mount([], {
      baseUrl: gate.baseUrl,
    })
    await waitUntil('what stood there', async () => (await fault.held('/a.txt')) === 'what others read')
    await waitUntil('the refusal', async () => (await unsent())[0]?.state === 'refused')
    expect((await calls.readFile('/a.txt')).toString()).toBe('precious')
    await docmount(['retry', mountpoint])
    await drain()
    expect(await fault.held('/a.txt')).toBe('precious')
    expect(await status()).toMatchObject({ conflicts: 0 })
    expect((await fault.service.other.get('/'))?.entries).toHaveLength(1)
  })
})
