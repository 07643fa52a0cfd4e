// A program that saves many documents, with the default --close-wait: its saves overlap, and it hears of what was refused.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { run, type Ran } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useFaultDrive } from './fault-drive.ts'

const many = 500

describe.skipIf(whyNoFuse() !== undefined)('a program that copies many documents in', () => {
  const fault = useFaultDrive()

  async function source(count: number): Promise<string> {
    const folder = join(fault.folder, 'letters')
    await mkdir(folder)
    for (let at = 1; at <= count; at++) await writeFile(join(folder, `letter-${at}.txt`), `letter ${at}`)
    return folder
  }

  const refuse = (path: RegExp): void =>
    void fault.service.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', path })

  it('hears of one that is refused in the middle: cp of 500 fails and names a file; the others arrive', async () => {
    const { mountpoint, drain, unsent } = await fault.mount()
    const letters = await source(many)
    const { stdout } = await run('ls', ['-U', letters])
    const refused = stdout.trim().split('\n')[many / 2 - 1] ?? ''
    refuse(new RegExp(`/${refused}$`))
    const { code, stderr } = await run('cp', ['-r', letters, `${mountpoint}/in`], {
      mayFail: true,
      limitMs: 120_000,
    })
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/letter-\d+\.txt/)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    await expect(drain()).rejects.toThrow(refused)
    expect(await unsent()).toMatchObject([{ path: `/in/${refused}`, state: 'refused' }])
    expect((await fault.service.other.get('/in'))?.entries).toHaveLength(many - 1)
  })

  it.each<[string, (from: string, to: string) => Promise<Ran>]>([
    ['cp over them', (from, to) => run('cp', ['-r', `${from}/.`, to], { mayFail: true })],
    ['rsync over them', (from, to) => run('rsync', ['-r', `${from}/`, to], { mayFail: true })],
  ])(
    'hears of one that is refused among those it saves over: %s fails; the others arrive, and that one is as it was',
    async (_, save) => {
      const { mountpoint, drain, unsent } = await fault.mount()
      const letters = await source(60)
      await run('cp', ['-r', letters, `${mountpoint}/in`])
      await drain()
      for (const name of await readdir(letters)) await writeFile(join(letters, name), `${name}, written anew`)
      // The version that stood there is put back after that.
      const once = { method: 'PUT', path: '/in/letter-30.txt', times: 1 }
      fault.service.service.faults.inject({ kind: 'status', status: 413 }, once)
      const { code } = await save(letters, `${mountpoint}/in`)
      expect(code).not.toBe(0)
      await expect(drain()).rejects.toThrow(/letter-30/)
      const left = await unsent()
      expect(left).toMatchObject([{ path: '/in/letter-30.txt', state: 'refused' }])
      expect((await fault.service.other.bytes('/in/letter-30.txt')).toString()).toBe('letter 30')
      // rsync ends with the first error; what it had saved by then is what it says it is.
      const stored = await fault.service.other.documents('/in')
      for (const [name, content] of stored ?? [])
        if (name !== 'letter-30.txt')
          expect([`${name}, written anew`, `letter ${/\d+/.exec(name)?.[0]}`]).toContain(content.toString())
      expect(stored?.size).toBe(60)
    },
  )

  it('a shell that saves single documents waits for each', async () => {
    const { mountpoint } = await fault.mount()
    const letters = await source(8)
    refuse(/letter-8\.txt$/)
    // Each cp is a program of its own.
    const script = 'for f in "$1"/*; do cp "$f" "$2"/ || echo "not saved: $f"; done'
    const { stdout } = await run('sh', ['-c', script, 'sh', letters, mountpoint])
    expect(stdout).toMatch(/not saved: .*letter-8\.txt/)
  })

  it('killed right after it ended: everything it closed arrives', async () => {
    const first = await fault.mount()
    const letters = await source(60)
    const { faults } = fault.service.service
    const clear = faults.inject({ kind: 'latency', ms: 500 }, { method: 'PUT' })
    await run('cp', ['-r', letters, `${first.mountpoint}/in`], { limitMs: 120_000 })
    await first.kill()
    clear()
    const { mountpoint, drain, unsent } = await fault.mount()
    await drain()
    await waitUntil('nothing to be unsent', async () => (await unsent()).length === 0)
    expect(await readdir(`${mountpoint}/in`)).toHaveLength(60)
    expect((await fault.service.other.get('/in'))?.entries).toHaveLength(60)
  })

  it('waits for each where --close-wait is given', async () => {
    const { mountpoint, unsent } = await fault.mount(['--close-wait', '10s'])
    const letters = await source(12)
    fault.service.service.faults.inject({ kind: 'latency', ms: 200 }, { method: 'PUT' })
    await run('cp', ['-r', letters, `${mountpoint}/in`], { limitMs: 120_000 })
    expect(await unsent()).toEqual([])
  })
})
