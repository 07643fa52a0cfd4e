// Half a save beside its document, whose program was killed: the kernel closes it for the program, and that is not taken for
// its own close.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

/** Writes half of it and ends as `end` says. */
const program = `
import os, signal, sys
file = open(sys.argv[1], "wb", buffering=0)
file.write(b"\\xff\\xd8\\xff\\xe0 half a JPEG")
if sys.argv[2] == "close": file.close()
else: os.kill(os.getpid(), int(sys.argv[2]))
`

describe.skipIf(whyNoFuse() !== undefined)('half a save', () => {
  test('is named and not sent where its program was killed; one that was closed is sent', async () => {
    await desk.testService.other.put('/photo.jpg', 'whole')
    const drive = await desk.mount('drive')
    const endings = { 'photo.jpg_killed': '9', 'photo.jpg_ended': '15', 'photo.jpg_closed': 'close' }
    for (const [name, end] of Object.entries(endings))
      await run('timeout', ['20', 'python3', '-c', program, join(drive, name), end], { mayFail: true })
    expect((await readdir(drive)).sort()).toEqual(['photo.jpg', ...Object.keys(endings)].sort())
    for (const name of ['photo.jpg_killed', 'photo.jpg_ended'])
      expect((await desk.docmount('status', join(drive, name))).stdout).toContain(
        'its program has not finished it',
      )
    expect((await desk.docmount('wait', drive)).code).toBe(0)
    expect([...((await desk.testService.other.documents('/')) ?? [])].map(([name]) => name).sort()).toEqual([
      'photo.jpg',
      'photo.jpg_closed',
    ])
  })
})
