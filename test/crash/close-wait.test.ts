// Rows of the fault table in docs/reliability.md. --close-wait, fsync, wait.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('how long close waits', () => {
  const fault = useFaultDrive()

  it('--close-wait 0: close does not wait, quick saves become one', async () => {
    const { calls, drain } = await fault.mount(['--close-wait', '0'])
    await calls.readdir('')
    fault.service.service.clearCalls()
    for (const content of ['one', 'two', 'three']) await calls.writeFile('/a.txt', content)
    await drain()
    expect(await fault.held('/a.txt')).toBe('three')
    expect(fault.service.service.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1)
  })

  it('--close-wait 10s: close succeeds only when the service has it, or goes on without it', async () => {
    const { calls, unsent, drain } = await fault.mount()
    await calls.readdir('')
    const { faults } = fault.service.service
    faults.inject({ kind: 'latency', ms: 2_000 }, { method: 'PUT', times: 1 })
    await calls.writeFile('/slow.txt', 'arrives before close returns')
    expect(await fault.held('/slow.txt')).toBe('arrives before close returns')
    faults.inject({ kind: 'latency', ms: 12_000 }, { method: 'PUT', times: 1 })
    await calls.writeFile('/slower.txt', 'goes on in the background')
    expect(await fault.held('/slower.txt')).toBeUndefined()
    expect(await unsent()).toHaveLength(1)
    await drain()
    expect(await fault.held('/slower.txt')).toBe('goes on in the background')
  })

  it('--close-wait forever: close returns when the service has it', async () => {
    const { calls, unsent, status } = await fault.mount(['--close-wait', 'forever'])
    await calls.readdir('')
    await fault.service.stop()
    let isClosed = false
    const saved = calls.writeFile('/a.txt', 'strict').then(() => (isClosed = true))
    await waitUntil('it to be journaled', async () => (await unsent()).length === 1)
    await waitUntil('the service to be known as away', async () => (await status()).service !== 'reachable')
    expect(isClosed).toBe(false)
    await fault.service.start()
    await saved
    expect(await fault.held('/a.txt')).toBe('strict')
  })

  it('fsync waits as close does', async () => {
    const { calls } = await fault.mount(['--close-wait', 'forever'])
    const file = await calls.open('/a.txt', 'w')
    await file.write('synced', 0)
    await file.sync()
    expect(await fault.held('/a.txt')).toBe('synced')
    await file.close()
  })

  it('wait ends when everything is sent, and says when it is not', async () => {
    const { calls, docmount, mountpoint } = await fault.mount(['--close-wait', '0'])
    const { faults } = fault.service.service
    const clear = faults.inject({ kind: 'status', status: 503 }, { method: 'PUT' })
    await calls.writeFile('/a.txt', 'waited for')
    const early = await docmount(['wait', mountpoint, '--timeout', '1s'], { mayFail: true })
    expect(early.code).not.toBe(0)
    expect(early.stderr).toMatch(/not everything is sent yet/)
    clear()
    expect((await docmount(['wait', mountpoint, '--timeout', '250s'])).code).toBe(0)
    expect(await fault.held('/a.txt')).toBe('waited for')
  })
})
