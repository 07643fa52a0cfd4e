// litmus, the protocol's own test suite (Debian's package): every one of its parts, whole.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { isInstalled, run } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { openWebdav, password, user, type OpenedWebdav } from './open-webdav.ts'

const parts = ['basic', 'copymove', 'props', 'locks', 'http']

describe('litmus', () => {
  if (!isInstalled('litmus')) {
    it.skip('not run: litmus is not installed (apt-get install litmus)')
    return
  }
  let opened: OpenedWebdav
  let folder: TemporaryFolder

  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    // litmus names its documents as it likes.
    opened = await openWebdav({ unsupportedAs: 'text/plain' })
  })
  afterAll(async () => {
    await opened.close()
    await folder.remove()
  })

  it.each(parts)('%s passes whole', async (part) => {
    // It writes its logs into its working folder.
    const line = 'cd "$1" && TESTS="$2" exec litmus -k "$3/" "$4" "$5"'
    const args = ['-c', line, 'sh', folder.path, part, opened.server.url, user, password]
    const { stdout } = await run('sh', args, { limitMs: 120_000, mayFail: true })
    const summary = /summary for `\w+': of (\d+) tests run: (\d+) passed, (\d+) failed/.exec(stdout)
    expect(summary, stdout).not.toBeNull()
    const [, all, passed] = summary ?? []
    expect(passed, stdout).toBe(all)
    expect(stdout).not.toContain('WARNING')
  })
})
