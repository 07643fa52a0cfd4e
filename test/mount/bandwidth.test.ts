// A drive that may use only so much of the line.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive } from '../support/mounted.ts'
import { run } from '../support/run.ts'
import { startTestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

test.skipIf(whyNoFuse() !== undefined).each([
  { set: 'at the mount', args: ['--bwlimit', '200K'] },
  { set: 'while it is mounted', args: [] },
])('--bwlimit holds for what is sent and for what is read, $set', async ({ args }) => {
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService()
  const content = Buffer.alloc(300_000, 'x')
  await testService.other.put('/old.txt', content)
  const drive = await mountDrive({
    testService,
    driver: 'kernel',
    folder: temporary.path,
    args: [...args, '--close-wait', 'forever'],
  })
  try {
    if (args.length === 0) await drive.docmount(['bwlimit', '200K', drive.mountpoint])
    expect((await drive.status()).bytesPerSecond).toBe(200 * 1024)
    const local = join(temporary.path, 'new.txt')
    await writeFile(local, content)
    const before = performance.now()
    await run('timeout', ['200', 'cp', local, drive.mountpoint])
    const between = performance.now()
    // Bounds from below only: a busy machine is slower, never faster. 400,000 bytes in base64 at 204,800 a second, less the last piece.
    expect(between - before).toBeGreaterThan(1800)
    await run('timeout', ['200', 'cmp', join(drive.mountpoint, 'old.txt'), local])
    expect(performance.now() - between).toBeGreaterThan(1300)
    expect(await testService.other.bytes('/new.txt')).toEqual(content)
  } finally {
    await drive.unmount()
    await testService.close()
    await temporary.remove()
  }
})
