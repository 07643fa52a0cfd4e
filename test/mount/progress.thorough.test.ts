// Progress of a drive, as a person at a terminal sees it: a bar.

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { whyNoPython } from '../support/python.ts'
import { run } from '../support/run.ts'
import { project } from '../support/service.ts'
import { atTerminal, type Terminal } from '../support/terminal.ts'

describe.skipIf(whyNoFuse() !== undefined || whyNoPython !== undefined)('at a terminal', () => {
  let desk: Desk
  let drive: string
  beforeEach(async () => {
    desk = await startDesk()
    drive = join(desk.home, project)
  })
  afterEach(() => desk.close())

  const docmount = (...args: string[]): Promise<Terminal> =>
    atTerminal(process.execPath, [cli, ...args], { env: desk.env, columns: 120 })

  async function copyIn(names: readonly string[], bytes = 150_000): Promise<void> {
    for (const name of names) {
      const local = join(desk.home, name)
      await writeFile(local, 'x'.repeat(bytes))
      await run('timeout', ['200', 'cp', local, drive])
    }
  }

  test('wait, unmount and the next mount tell how much is sent, and how much is left', async () => {
    await docmount('mount', project, '--close-wait', '0', '--bwlimit', '100K')
    await copyIn(['a.txt', 'b.txt', 'c.txt'])
    const waited = await docmount('wait', drive)
    expect(waited.drawn).toMatch(/sending {2}[█░]+ {2}\d+ % {2}\d.* of \d+\.\d KiB .*changes? left/)
    expect(waited.code).toBe(0)

    // More than a busy machine sends before it is asked.
    await copyIn(['d.txt', 'e.txt'], 6_000_000)
    const unmounted = await docmount('unmount', drive, '--timeout', '2s')
    expect(unmounted.drawn).toMatch(/unmounting {2}[█░]+ {2}\d+ % {2}\d.* of \d+\.\d MiB/)
    expect(unmounted.code).toBe(1)

    const mounted = await docmount('mount', project, '--bwlimit', '2M')
    expect(mounted.drawn).toMatch(/\d changes? \(\d.*\) of before to be sent; docmount wait .* waits for it/)
    expect(await docmount('wait', drive, '--quiet')).toEqual({ code: 0, drawn: '' })
    expect(await docmount('unmount', drive, '--quiet')).toMatchObject({ code: 0, drawn: '' })
  })

  test('a single large document counts while it is on its way', async () => {
    await docmount('mount', project, '--close-wait', '0', '--bwlimit', '1M')
    await copyIn(['a.txt'], 8_000_000)
    const { drawn } = await docmount('wait', drive)
    const percents = new Set([...drawn.matchAll(/ (\d+) % /g)].map(([, percent]) => percent))
    expect(percents.size).toBeGreaterThan(2)
    await docmount('unmount', drive)
  })

  test('recover tells how much of how much: of a document, and of all that is not sent', async () => {
    await desk.testService.other.put('/stored.txt', 'x'.repeat(1_500_000))
    await docmount('mount', project, '--close-wait', '0', '--bwlimit', '300K')
    const stored = await docmount('recover', join(drive, 'stored.txt'), join(desk.home, 'stored.txt'))
    expect(stored.drawn).toMatch(
      /copying stored\.txt {2}[█░]+ {2}\d+ % {2}\d.* of 1\.4 MiB .*\/s {2}\d+ s left/,
    )
    await desk.testService.stop()
    await copyIn(['a.txt', 'b.txt'], 3_000_000)
    const all = await docmount('recover', '--all', join(desk.home, 'rescued'))
    expect(all.drawn.match(/\/rescued\/\S+\/[ab]\.txt/g)).toHaveLength(2)
    const quiet = await docmount('recover', '--quiet', join(drive, 'a.txt'), join(desk.home, 'again.txt'))
    expect(quiet.drawn).toBe(`${join(desk.home, 'again.txt')}\r\n`)
    await docmount('unmount', drive, '--timeout', '0')
  })

  test('mount tells that it waits for the service', async () => {
    const { service } = desk.testService
    await desk.testService.stop()
    let tries = 0
    const away = createServer((socket) => void (tries++, socket.destroy())).listen(service.port, '127.0.0.1')
    const mounting = docmount('mount', project, '--wait', '50s')
    // A second look is made by who has waited for some time.
    await expect.poll(() => tries).toBeGreaterThan(1)
    await new Promise((closed) => away.close(closed))
    await desk.testService.start()
    const { code, drawn } = await mounting
    expect(drawn).toMatch(/mounting acme {2}waiting for the service/)
    expect(code).toBe(0)
    await docmount('unmount', drive)
  })
})
