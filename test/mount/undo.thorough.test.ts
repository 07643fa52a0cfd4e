// Undo at the command line: what programs deleted and replaced on a mounted drive, and how it comes back.

import { spawn } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

async function json(...args: string[]): Promise<unknown> {
  const { stdout } = await desk.docmount(...args, '--json')
  return JSON.parse(stdout) as unknown
}

describe.skipIf(whyNoFuse() !== undefined)('on a mounted drive', () => {
  test('a deleted document is in the trash, over a new mount, and comes back', async () => {
    const drive = await desk.mount('drive')
    const a = join(drive, 'letters', 'a.txt')
    await run('mkdir', [join(drive, 'letters')])
    await desk.save(a, 'four')
    await run('rm', ['-r', join(drive, 'letters')])
    await desk.docmount('wait', drive)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await desk.mount('drive')
    const { stdout } = await desk.docmount('trash')
    expect(stdout).toMatch(/^AT .*\n\d{4}-.* {2}deleted {2}.* {2}4 bytes {2}kept {2}\/letters\/a\.txt\n$/)
    expect(await desk.docmount('restore', a)).toMatchObject({
      code: 0,
      stdout: '/letters/a.txt is back, 4 bytes\n',
    })
    expect((await run('cat', [a])).stdout).toBe('four')
    expect((await desk.docmount('trash')).stdout).toBe('nothing that was deleted is known here\n')
    await desk.docmount('wait', drive)
    expect((await desk.testService.other.bytes('/letters/a.txt')).toString()).toBe('four')
  })

  test('an open window and a reader see the version that came back', async () => {
    const drive = await desk.mount('drive')
    const a = join(drive, 'a.txt')
    await desk.save(a, 'the first')
    await desk.save(a, 'another one')
    expect((await run('cat', [a])).stdout).toBe('another one')
    const versions = (await json('versions', a)) as { at: string; how: string }[]
    expect(versions).toMatchObject([{ path: '/a.txt', how: 'replaced', bytes: 9 }])
    expect((await desk.docmount('restore', a, '--at', versions[0]?.at ?? '')).code).toBe(0)
    expect((await run('cat', [a])).stdout).toBe('the first')
    expect(await json('restore', a, '--to', join(drive, 'was', 'a.txt'))).toEqual({
      restored: [{ path: '/was/a.txt', from: '/a.txt', bytes: 11 }],
      left: [],
    })
    expect((await run('cat', [join(drive, 'was', 'a.txt')])).stdout).toBe('another one')
    expect((await run('ls', [drive])).stdout).toBe('a.txt\nwas\n')
  })

  test('the menu of file managers opens the page with the versions of one document, which come back', async () => {
    const drive = await desk.mount('drive')
    const a = join(drive, 'a.txt')
    await desk.save(a, 'the first')
    await desk.save(a, 'another one')
    await desk.docmount('wait', drive)
    const programs = join(desk.home, 'bin')
    const opened = join(desk.home, 'opened')
    await mkdir(programs)
    await writeFile(
      join(programs, 'xdg-open'),
      `#!/bin/sh\necho "$1" >"${opened}.new" && mv "${opened}.new" "${opened}"\n`,
    )
    await chmod(join(programs, 'xdg-open'), 0o755)
    const env = { ...desk.env, PATH: `${programs}:${desk.env['PATH']}` }
    const action = (...paths: string[]) => [cli, 'desktop', 'run', 'versions', ...paths]
    expect(await run(process.execPath, action(a, drive), { env, mayFail: true })).toMatchObject({ code: 1 })
    const menu = spawn(process.execPath, action(a), { env, cwd: drive, stdio: 'ignore' })
    try {
      const address = await waitUntil('the browser', () => readFile(opened, 'utf8').catch(() => undefined))
      expect(address).toMatch(/#undo-\w+\n$/)
      const entered = await fetch(address.trim(), { redirect: 'manual' })
      const headers = { cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
      const page = await (await fetch(new URL('/', address), { headers })).text()
      expect(page).toContain(`id="${new URL(address).hash.slice(1).trim()}"`)
      const form = /<form method="post" action="\/restore"[\s\S]*?<\/form>/.exec(page)?.[0] ?? ''
      expect(form).toContain('Restore: /a.txt, replaced')
      const body = new URLSearchParams()
      for (const [, name = '', value = ''] of form.matchAll(/name="(\w+)" value="([^"]*)"/g))
        body.append(name, value)
      await fetch(new URL('/restore', address), { method: 'POST', headers, body, redirect: 'manual' })
      expect((await run('cat', [a])).stdout).toBe('the first')
      // It keeps no drive busy.
      expect((await desk.docmount('unmount', drive)).code).toBe(0)
    } finally {
      menu.kill()
    }
  })

  test('what cannot come back is said', async () => {
    await desk.testService.other.put('/a.txt', 'four')
    const drive = await desk.mount('drive')
    await run('rm', [join(drive, 'a.txt')])
    await desk.docmount('wait', drive)
    expect((await desk.docmount('trash')).stdout).toContain('not kept: its bytes were not on this machine')
    expect(await desk.docmount('restore', join(drive, 'a.txt'))).toMatchObject({
      code: 1,
      stderr: 'docmount: /a.txt cannot be brought back: its bytes were not on this machine\n',
    })
    expect(await desk.docmount('restore', join(drive, 'b.txt'))).toMatchObject({
      code: 1,
      stderr: 'docmount: no former version of /b.txt is known here\n',
    })
    expect(await desk.docmount('restore', join(drive, 'a.txt'), '--at', 'yesterday')).toMatchObject({
      code: 2,
    })
  })

  test('--undo 0 keeps nothing, and removes what was kept', async () => {
    let drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    await desk.save(join(drive, 'a.txt'), 'another')
    expect(await json('versions', join(drive, 'a.txt'))).toHaveLength(1)
    await desk.docmount('unmount', drive)
    drive = await desk.mount('drive', '--undo', '0')
    await desk.save(join(drive, 'a.txt'), 'a third')
    expect(await json('versions', join(drive, 'a.txt'))).toEqual([])
    const states = join(desk.home, '.local/state/docmount')
    const kept = (await readdir(states, { recursive: true })).filter((name) => /undo\/./.test(name))
    expect(kept).toEqual([])
  })
})
