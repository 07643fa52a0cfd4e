// Leftovers of an interrupted run are unmounted by the next one, drives and disks alike: `scripts/test` could not remove a disk and ended.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { run } from '../support/run.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

const sweepMounts = new URL('../../scripts/sweep-mounts', import.meta.url).pathname

test.skipIf(process.getuid?.() !== 0)('a small disk in a small disk is unmounted and named', async () => {
  const folder = await makeTemporaryFolder()
  const { path } = folder
  const outer = join(path, 'a small disk')
  const inner = join(outer, 'inner')
  onTestFinished(async () => {
    await run('umount', ['-R', outer], { mayFail: true })
    await folder.remove()
  })
  for (const disk of [outer, inner]) {
    await mkdir(disk)
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  }
  expect(await run(sweepMounts, [path], { mayFail: true })).toMatchObject({
    code: 1,
    stdout: `still mounted: ${inner}\nstill mounted: ${outer}\n`,
  })
  expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(path)
  expect((await run(sweepMounts, [path])).stdout).toBe('')
})
