// libfuse 2 hides a file that is deleted or replaced while it is open. It may decide so before it has heard of the last close.

import { expect, test } from 'vitest'
import { openHeld } from '../../support/open-held.ts'

test.each(['/a.pdf', '/.a.pdf.un~'])(
  '%s that is closed by then is not hidden but asked for again',
  async (path) => {
    await using drive = await openHeld(path === '/a.pdf' ? { '/a.pdf': 'a' } : {})
    const calls = drive.calls()
    if (path !== '/a.pdf') await calls.writeFile(path, 'a')
    const hiding = calls.rename(path, '/.fuse_hidden0000000100000001')
    await expect(hiding).rejects.toMatchObject({ code: 'ESTALE' })
    expect(await calls.readdir('/')).toEqual([path.slice(1)])
    expect((await calls.readFile(path)).toString()).toBe('a')
    await calls.unlink(path)
    expect(await calls.readdir('/')).toEqual([])
  },
)
