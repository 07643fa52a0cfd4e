// kill -9 while files are on this machine only.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('files that are on this machine only', () => {
  const fault = useFaultDrive()

  it('are there after kill -9, and named; a document beside them is not mistaken for one', async () => {
    await fault.service.other.put('/a.txt', 'old')
    await fault.service.other.put('/doc.txt', 'stored')
    const before = await fault.mount(['--close-wait', '0'])
    await before.calls.readdir('')
    await before.calls.mkdir('/sediments')
    await before.calls.writeFile('/sediments/report.txt', 'x')
    await before.calls.rename('/doc.txt', '/sedatives')
    await before.calls.writeFile('/.a.txt.swp', 'swap')
    await before.calls.writeFile('/b.tmp', 'half')
    await before.calls.rename('/a.txt', '/a.txt~')
    await before.calls.writeFile('/a.txt', 'new')
    await before.kill()

    const { calls, drain, status } = await fault.mount()
    const local = { '/.a.txt.swp': 'swap', '/b.tmp': 'half', '/a.txt~': 'old' }
    for (const [path, content] of Object.entries(local))
      expect((await calls.readFile(path)).toString(), path).toBe(content)
    expect((await status()).localOnly.map(({ path }) => path).sort()).toEqual(Object.keys(local).sort())
    await drain()
    expect(await fault.held('/sediments/report.txt')).toBe('x')
    expect(await fault.held('/sedatives')).toBe('stored')
    expect(await fault.held('/a.txt')).toBe('new')
    expect(await fault.held('/doc.txt')).toBeUndefined()
    for (const [path, content] of Object.entries(local))
      expect((await calls.readFile(path)).toString(), path).toBe(content)
  })
})
