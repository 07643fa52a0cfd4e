// Engines of a store that does not start are stopped again: a monitor of Ceph's went on for hours after a start that had failed.

import { readFile, readdir } from 'node:fs/promises'

import { expect, onTestFinished, test } from 'vitest'

import { run } from '../support/run.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

const engines = new URL('../../scripts/engines', import.meta.url).pathname
const limitMs = 280_000
const isThere = (await run(engines, ['check-s3'], { mayFail: true })).code === 0

async function programsIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(folder)).map((line) => line.replaceAll('\0', ' '))
}

test.skipIf(!isThere)(
  'start-s3 leaves nothing running where the store cannot be made',
  { timeout: 2 * limitMs },
  async () => {
    const folder = await makeTemporaryFolder()
    onTestFinished(async () => {
      await run(engines, ['stop-s3', folder.path], { mayFail: true })
      await folder.remove()
    })
    // The monitor runs by the time a disk of no bytes is refused.
    const { code } = await run(engines, ['start-s3', folder.path], {
      env: { ...process.env, DOCMOUNT_ENGINES_S3_GB: '0' },
      mayFail: true,
      limitMs,
    })
    expect(code).not.toBe(0)
    expect(await readFile(`${folder.path}/mon.log`, 'utf8')).toContain('mon.a')
    expect(await programsIn(folder.path)).toEqual([])
    await run(engines, ['start-s3', folder.path], { limitMs })
    expect(await programsIn(folder.path)).toHaveLength(3)
  },
)
