// Drives on the page of `docmount ui`, and actions on them; without a browser.

import { mkdir, readFile, readdir } from 'node:fs/promises'
import { get as httpGet } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { developersWords, startPage, type Page } from '../support/page.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'
import { startWebdavDrive, type WebdavDrive } from '../support/webdav-drive.ts'

const nasty = `<script>alert("1")</script>&'.docx`.replace('/', '')

let temporary: TemporaryFolder
let testService: TestService
let drive: WebdavDrive
let page: Page
let cookie: string
/** Of a form that was sent. */
let token = ''
beforeAll(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
  const { baseUrl, apiKey, other } = testService
  await other.put('/conflict.txt', 'first')
  await other.put('/pinned/a.txt', 'a')
  await other.put('/never-read.txt', 'never read')
  const client = createClient({ baseUrl, apiKey })
  const tables = client.tables(project)
  const { id = '' } = await tables.create({ name: 'invoices <b>', settings: { type: 'reconcile' } })
  await tables.forward(id, [{ assetName: 'INV-1', rowData: { number: 'INV-1', total: 12 } }])
  await client.close()
  const args = ['--close-wait', '0', '--cache-ttl', '10m', '--tables', '--bwlimit', '256K', '--undo', '30d']
  drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey, args })
  await mkdir(join(temporary.path, 'copies'))
  page = await startPage(
    {
      PATH: process.env['PATH'],
      HOME: temporary.path,
      XDG_RUNTIME_DIR: join(temporary.path, 'run'),
      XDG_STATE_HOME: join(temporary.path, 'state'),
      XDG_CACHE_HOME: join(temporary.path, 'cache'),
    },
    ['--copy-to', join(temporary.path, 'copies')],
  )
  cookie = await page.enter()
})
afterAll(async () => {
  await page?.end()
  await drive?.remove()
  await testService?.close()
  await temporary?.remove()
})

const shown = async (): Promise<string> => (await page.ask('/', { headers: { cookie } })).text

/** The page once it says so; as text, without its markup. */
async function says(words: RegExp): Promise<string> {
  return waitUntil(`the page to say ${words}`, async () => {
    const text = textOf(await shown())
    return words.test(text) && text
  })
}

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
}

/** Fills in the form of a button, as the page wrote it, with `typed` in its field. Answers the messages. */
async function press(label: string, typed?: string): Promise<string> {
  const html = await shown()
  const form =
    html
      .split('<form')
      .find((part) => textOf(part).trim().startsWith('method') && part.includes(`aria-label="${label}`)) ?? ''
  const fields = [...form.matchAll(/name="(\w+)"\s+value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    textOf(value ?? ''),
  ])
  token = /name="token"\s+value="([^"]*)"/.exec(form)?.[1] ?? ''
  const action = /action="([^"]*)"/.exec(form)?.[1] ?? ''
  const field = /type="(?:text|password)"\s+name="(\w+)"/.exec(form)?.[1]
  if (field !== undefined && typed !== undefined) fields.push([field, typed])
  const { status } = await page.ask(action, {
    method: 'POST',
    form: Object.fromEntries(fields) as Record<string, string>,
    headers: { cookie, origin: `http://127.0.0.1:${page.port}` },
  })
  expect([label, status]).toEqual([label, 303])
  return textOf(/<ul[^>]*id="messages"[\s\S]*?<\/ul>/.exec(await shown())?.[0] ?? '')
}

describe.sequential('a drive on the page', () => {
  test('with nothing to tell: what, where, reach, cache, tables, log', async () => {
    const text = await says(/Everything is sent\./)
    expect(text).toContain(`acme ${drive.url} at ${testService.baseUrl}`)
    expect(text).toContain('The service answers.')
    expect(text).toMatch(/Cache: 0 documents, \d.* of 5\.0 GiB/)
    expect(text).toContain('Tables 1')
    expect(text).toContain('invoices <b> Reconcile')
    expect(text).toContain('Log this drive logs into no file: see where it was started')
    expect(text).not.toContain('Needs your attention')
  })

  test('names are text, whatever they look like', async () => {
    await drive.ask('PUT', `/${encodeURIComponent(nasty)}`, { body: 'x' })
    const text = await says(/Refused types/)
    expect(text).toContain(`/${nasty} the service takes no docx files (Word documents)`)
    const html = await shown()
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('<b>')
    expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)')
    expect(await press('Dismiss: /&lt;script')).toContain('1 refused name is listed no longer')
    expect(textOf(await shown())).not.toContain('Refused types')
  })

  test('a refused change: retried, copied out, and never over another file', async () => {
    testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 2 })
    await drive.ask('PUT', '/refused.txt', { body: 'kept here' })
    await says(/Refused by the service 1 .*\/refused\.txt not stored: /)
    expect(await press('Copy out: /refused.txt')).toContain(`Copied to ${temporary.path}/copies/refused.txt`)
    expect(await press('Copy out: /refused.txt')).toContain(
      `Copied to ${temporary.path}/copies/refused (2).txt`,
    )
    expect(await readFile(join(temporary.path, 'copies/refused (2).txt'), 'utf8')).toBe('kept here')
    expect(await readdir(join(temporary.path, 'copies'))).toHaveLength(2)
    await press('Retry: /refused.txt')
    await says(/Refused by the service 1/)
    expect(await press('Retry: /refused.txt')).toContain('Trying 1 change again.')
    await waitUntil('it to arrive', async () => (await testService.other.get('/refused.txt')) !== undefined)
    await says(/Everything is sent\./)
    // The latest first; a name from outside is text.
    await says(/Activity .* sent \/refused\.txt \(9 bytes\).* refused \/refused\.txt: /s)
  })

  test('a conflict, with their version copied out, and ended', async () => {
    await drive.ask('GET', '/conflict.txt')
    await testService.other.put('/conflict.txt', 'theirs')
    await drive.ask('PUT', '/conflict.txt', { body: 'mine' })
    const text = await says(/Someone else changed these too 1/)
    const copy = /theirs is (\/conflict \(conflict .*?\)\.txt)/.exec(text)?.[1] ?? ''
    await press(`Copy out: ${copy}`)
    expect(await readFile(join(temporary.path, 'copies', copy), 'utf8')).toBe('theirs')
    // It is no folder on this machine.
    expect(await shown()).not.toContain('Open folder')
    expect(await press(`Keep theirs: ${copy}`)).toContain(
      `/conflict.txt is now their version, which was ${copy}`,
    )
    await says(/Everything is sent\./)
    expect((await testService.other.bytes('/conflict.txt')).toString()).toBe('theirs')
    expect(textOf(await shown())).not.toContain('Someone else changed these too')
  })

  test('pins, the cache, and a reconciliation', async () => {
    expect(await press('Keep on this machine', 'pinned/')).toContain('/pinned is fetched, and stays')
    await says(/\/pinned pinned, all here: 1 document, 1 byte/)
    expect(await press('Keep on this machine', 'nothing')).toContain('/nothing')
    await says(/Cache: [1-9]\d* documents?,/)
    expect(await press('Free space')).toMatch(/Freed \d.*; what is pinned or not sent stays/)
    await says(/Cache: 0 documents,/)
    expect(await press('Unpin: /pinned')).toContain('/pinned stays only as long as there is room')
    await says(/Nothing is pinned\./)
    await drive.ask('PUT', '/.tables/invoices%20%3Cb%3E/reconcile/item.json', {
      body: JSON.stringify({ number: 'INV-1', total: null }),
    })
    await says(/Reconciliations through this drive 1 invoices <b>: item\.json done · /)
  })

  test('what was deleted and replaced is shown when asked for, and comes back', async () => {
    const stored = async (): Promise<string | undefined> =>
      (await testService.other.documents('/minutes'))?.get('a.txt')?.toString()
    const sent = (content: string | undefined): Promise<unknown> =>
      waitUntil('it to be sent', async () => (await stored()) === content)
    await drive.ask('MKCOL', '/minutes')
    for (const body of ['first', 'the second', 'the third']) {
      await drive.ask('PUT', '/minutes/a.txt', { body })
      await sent(body)
    }
    await drive.ask('PUT', '/minutes/b.txt', { body: 'another' })
    expect(textOf(await shown())).not.toContain('replaced 2')
    await press('Show versions', 'minutes/a.txt/')
    await says(
      /\/minutes\/a\.txt 2 \d{4}-\S+ \S+ replaced · stored .* · 10 bytes Restore .* replaced · stored .* · 5 bytes Restore/,
    )
    const [, second, first] = (await shown()).split('Restore: /minutes/a.txt, replaced')
    expect(second).not.toBe(first)
    expect(await press('Restore: /minutes/a.txt')).toContain('/minutes/a.txt is back')
    await sent('the second')
    await says(/\/minutes\/a\.txt 3 .* 9 bytes Restore .* 10 bytes · restored since Restore/)
    await press('Close: /minutes/a.txt')
    expect(textOf(await shown())).not.toContain('bytes Restore')
    for (const path of ['/minutes/a.txt', '/minutes/b.txt', '/never-read.txt'])
      await drive.ask('DELETE', path)
    await waitUntil(
      'it to be deleted',
      async () => (await testService.other.get('/never-read.txt')) === undefined,
    )
    await sent(undefined)
    await press('What was deleted')
    await says(
      /All that was deleted 3 .*\/never-read\.txt deleted .* not kept: its bytes were not on this machine/,
    )
    expect(await shown()).not.toContain('Restore: /never-read.txt')
    expect(await press('Restore all')).toContain(
      '2 documents are back; /never-read.txt is not: its bytes were not on this machine',
    )
    await sent('the second')
    await says(/All that was deleted 1 /)
    await press('Close: /')
  })

  test('an upload under way is told by itself, with bytes, rate and time, until it is done', async () => {
    const told: string[] = []
    const listening = httpGet(`http://127.0.0.1:${page.port}/live`, { headers: { cookie } }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        const events = (text + chunk.toString()).split('\n\n')
        text = events.pop() ?? ''
        for (const event of events)
          if (event.startsWith('data: ')) told.push(textOf(JSON.parse(event.slice(6)) as string))
      })
    })
    listening.on('error', () => {})
    await drive.ask('PUT', '/large.pdf', { body: Buffer.alloc(1_500_000, '%PDF-1.4 ') })
    await waitUntil('rate and time', () =>
      told.some((text) =>
        /1 change · .* left · .*KiB\/s · \d+ s left .*\/large\.pdf \d.* of 1\.4 MiB \(\d+ %\) · .*\/s · \d+ s left/.test(
          text,
        ),
      ),
    )
    await waitUntil('the end', () => told.at(-1)?.includes('Everything is sent.'))
    listening.destroy()
  })

  test('a service that is away is said, and asked on demand', async () => {
    await testService.stop()
    await drive.ask('PUT', '/later.txt', { body: 'later' })
    await says(
      /The service has been away since \d{4}-.*stays on this machine, and is sent when the service is back/,
    )
    // It is asked by itself, too: once it is there, the button is not.
    await press('Ask it now: the service')
    await testService.start()
    await says(/The service answers\./)
    await waitUntil('it to arrive', async () => (await testService.other.get('/later.txt')) !== undefined)
  })

  test('a pause: what is saved waits, until it goes on', async () => {
    expect(await press('Pause')).toContain('Paused: nothing is sent')
    await drive.ask('PUT', '/paused.txt', { body: 'paused' })
    await says(/paused: what you save stays on this machine .* Waiting to be sent 1 change/)
    expect(await testService.other.get('/paused.txt')).toBeUndefined()
    expect(await press('Go on')).toContain('Sending again')
    await waitUntil('it to arrive', async () => (await testService.other.get('/paused.txt')) !== undefined)
  })

  test('a key that the service refuses is not kept, and one that it takes is', async () => {
    expect(await press('Use this key', 'wrong')).toContain('refuses the key (the API key is not valid)')
    const config = join(temporary.path, '.config/docmount/config.json')
    await expect(readFile(config)).rejects.toMatchObject({ code: 'ENOENT' })
    const key = await testService.service.createKey(project)
    expect(await press('Use this key', key)).toContain('The key is accepted and kept; it sees acme')
    expect(JSON.parse(await readFile(config, 'utf8'))).toMatchObject({
      projects: { acme: { base_url: testService.baseUrl, api_key: key } },
    })
    expect(await shown()).not.toContain(key)
  })

  test('no developer’s words: neither calls, nor codes, nor what the drive calls a change', async () => {
    await testService.stop()
    await drive.ask('PUT', '/refused.txt', { body: 'again' })
    await drive.ask('DELETE', '/conflict.txt')
    const text = await says(
      /Waiting to be sent 2 changes.*\/refused\.txt changed · .*\/conflict\.txt deleted/,
    )
    expect(text).not.toMatch(developersWords)
    // The tables are asked for every ten seconds.
    expect(await says(/docmount cannot show them: no connection: nothing answers there/)).not.toMatch(
      developersWords,
    )
    await testService.start()
    await says(/Everything is sent\./)
  })

  test('forms that make no sense change nothing', async () => {
    const id = /id="drive-(\w+)"/.exec(await shown())?.[1] ?? ''
    const post = async (path: string, form: Record<string, string>): Promise<number> =>
      (await page.ask(path, { method: 'POST', form: { ...form, token }, headers: { cookie } })).status
    expect(await post('/copy-out', { drive: id, path: '/../../etc/passwd' })).toBe(400)
    expect(await post('/copy-out', { drive: id, path: 'a.txt' })).toBe(400)
    expect(await post('/retry', { drive: id, path: '/', more: 'x'.repeat(70_000) })).toBe(413)
    expect(await post('/retry', { drive: 'other', path: '/' })).toBe(303)
    expect(textOf(await shown())).toContain('this drive is not there any more')
  })

  test('a drive that was unmounted, and mounted again', async () => {
    await press('Unmount')
    await says(/Unmounted/)
    await drive.ended
    // Known from the config file, by the key that was taken.
    await says(/Not mounted acme/)
  })

  test('a drive that ended and left something', async () => {
    const { baseUrl, apiKey } = testService
    drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey, args: ['--close-wait', '0'] })
    await testService.stop()
    await drive.ask('PUT', '/left.txt', { body: 'left' })
    drive.signal('SIGKILL')
    await drive.ended
    await says(/This drive ended without being unmounted\. What is not sent is kept on this machine/)
    await testService.start()
    await press('Mount')
    await says(/acme is served by WebDAV/)
    await waitUntil('it to arrive', async () => (await testService.other.get('/left.txt')) !== undefined)
    await press('Unmount')
    await says(/Unmounted/)
    await drive.ended
  })

  test('a drive that was stopped with something unsent is told in plain words', async () => {
    const { baseUrl, apiKey } = testService
    drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey, args: ['--close-wait', '0'] })
    await drive.ask('GET', '/left.txt')
    await testService.stop()
    await drive.ask('PUT', '/left.txt', { body: 'changed' })
    await says(/Waiting to be sent 1 change/)
    drive.signal('SIGTERM')
    await says(/being unmounted/)
    // Sends no longer.
    drive.signal('SIGTERM')
    await drive.ended
    const text = await says(/Not mounted acme .* Mount 1 change is not sent \/left\.txt changed 7 bytes/)
    expect(text).not.toMatch(developersWords)
  })
})
