// The page of a file manager's menu ends with the browser that shows it.

import { expect, it } from 'vitest'
import { cliParts } from '../../src/cli/run-ui.ts'
import { startUi } from '../../src/ui/server.ts'

it('a page is unused once no browser shows it', async () => {
  const server = await startUi({ port: 0, copyTo: undefined, cli: cliParts })
  const happened: string[] = []
  try {
    const entered = await fetch(server.address, { redirect: 'manual' })
    const headers = { cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
    const browser = new AbortController()
    const live = await fetch(new URL('/live', server.address), { headers, signal: browser.signal })
    expect(live.status).toBe(200)
    const unused = server.unused(1).then(() => happened.push('unused'))
    for (let time = 0; time < 3; time++)
      expect((await fetch(new URL('/', server.address), { headers })).status).toBe(200)
    happened.push('closed')
    browser.abort()
    await unused
    expect(happened).toEqual(['closed', 'unused'])
  } finally {
    await server.close()
  }
})
