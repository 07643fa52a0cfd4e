// The page of `docmount ui` in headless Chromium: it is live, is used by keyboard alone, fits a telephone, and breaks none of
// its own rules. $DOCMOUNT_PICTURES names a folder for the pictures.

import { mkdir, writeFile, chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page as Tab } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { developersWords, startPage, type Page } from '../support/page.ts'
import { isInstalled, run } from '../support/run.ts'
import { project } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const pictures = process.env['DOCMOUNT_PICTURES']
const whyNot = whyNoFuse() ?? (isInstalled('chromium') ? undefined : 'chromium is not installed')

describe.runIf(whyNot === undefined).sequential('the page in a browser', () => {
  let desk: Desk
  let drive: string
  let page: Page
  let browser: Browser
  let context: BrowserContext
  let tab: Tab
  const complaints: string[] = []
  const requested = new Set<string>()

  beforeAll(async () => {
    desk = await startDesk()
    await prepare(desk)
    drive = await desk.mount(
      'acme',
      '--close-wait',
      '0',
      '--cache-ttl',
      '10m',
      '--bwlimit',
      '300K',
      '--tables',
      '--undo',
      '30d',
    )
    await makeTrouble(desk, drive)
    page = await startPage(desk.env)
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    context = await browser.newContext({ viewport: { width: 1000, height: 1240 }, colorScheme: 'light' })
    context.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    context.on('weberror', (error) => void complaints.push(error.error().message))
    context.on('request', (request) => requested.add(new URL(request.url()).host))
    tab = await context.newPage()
    await tab.goto(page.address)
  })
  afterAll(async () => {
    await browser?.close()
    await page?.end()
    await desk?.close()
  })

  async function picture(name: string): Promise<void> {
    if (pictures === undefined) return
    // Drives that other tests mount meanwhile come below.
    const box = await tab.locator('article').first().boundingBox()
    const { width, height } = tab.viewportSize() ?? { width: 0, height: 0 }
    const clip = { x: 0, y: 0, width, height: Math.min(height, (box?.y ?? 0) + (box?.height ?? 0) + 12) }
    await tab.screenshot({ path: join(pictures, `${name}.png`), clip })
  }
  const ours = (selector: string, options: Parameters<Tab['locator']>[1] = {}) =>
    tab.locator('article').first().locator(selector, options)

  test('the token leaves address and history, and scripts do not see the cookie', async () => {
    expect(tab.url()).toBe(`http://127.0.0.1:${page.port}/`)
    expect(await tab.evaluate('document.cookie')).toBe('')
    expect(await tab.evaluate('document.referrer')).toBe('')
    await tab.goto('about:blank')
    await tab.goBack()
    expect(tab.url()).toBe(`http://127.0.0.1:${page.port}/`)
  })

  test('an upload moves without anything being loaded anew, and what is open stays open', async () => {
    await tab.locator('#live').getByText('live', { exact: true }).waitFor()
    await ours('details').filter({ hasText: 'Tables' }).locator('summary').click()
    await run('timeout', ['200', 'cp', join(desk.home, 'plan.pdf'), join(drive, 'plan.pdf')])
    await tab.evaluate('window.isTheSame = true')
    const bar = ours('progress[aria-label="/plan.pdf"]')
    await bar.waitFor()
    await ours('.sum')
      .filter({ hasText: /KiB\/s · \d+ s left/ })
      .waitFor()
    const before = Number(await bar.getAttribute('value'))
    await waitUntil('the bar to move', async () => Number(await bar.getAttribute('value')) > before)
    await picture('ui-light')
    await tab.emulateMedia({ colorScheme: 'dark' })
    await picture('ui-dark')
    await tab.emulateMedia({ colorScheme: 'light' })
    await tab.setViewportSize({ width: 360, height: 740 })
    const overflow = await tab.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    expect(overflow).toBe(0)
    await picture('ui-narrow')
    await tab.setViewportSize({ width: 1000, height: 1240 })
    await bar.waitFor({ state: 'detached', timeout: 60_000 })
    expect(await tab.evaluate('window.isTheSame')).toBe(true)
    expect(await ours('details').filter({ hasText: 'Tables' }).getAttribute('open')).not.toBeNull()
  })

  test('a refused change is copied out and sent again by keyboard alone, and the focus stays', async () => {
    await tab.bringToFront()
    await reach(tab, 'Copy out: /minutes.txt')
    await tab.keyboard.press('Enter')
    await tab.locator('#messages').getByText(`Copied to ${desk.home}/minutes.txt`).waitFor()
    expect(await readFile(join(desk.home, 'minutes.txt'), 'utf8')).toBe('what was said')
    expect(await focused(tab)).toBe('Copy out: /minutes.txt')
    await reach(tab, 'Retry: /minutes.txt')
    await tab.keyboard.press('Space')
    await tab.locator('#messages').getByText('Trying 1 change again.').waitFor()
    await ours('section').filter({ hasText: 'Refused by the service' }).waitFor({ state: 'detached' })
    await waitUntil(
      'it to arrive',
      async () => (await desk.testService.other.get('/minutes.txt')) !== undefined,
    )
  })

  test('the folder of a conflict opens in the file manager', async () => {
    await ours('button[aria-label^="Open folder: /offers"]').first().click()
    await tab.locator('#messages').getByText(`Opened ${drive}/offers`).waitFor()
    expect(await readFile(join(desk.home, 'opened'), 'utf8')).toBe(`${drive}/offers\n`)
  })

  test('the focus stays on a row that moves, and goes to what is around one that is gone', async () => {
    await desk.save(join(drive, 'other.docx'), 'x')
    await ours('button[aria-label="Dismiss: /other.docx"]').waitFor()
    await reach(tab, 'Dismiss: /letter.docx')
    const first = ours('li', { has: tab.locator('button[aria-label^="Dismiss: "]') }).first()
    await desk.save(join(drive, 'letter.docx'), 'x')
    await first.getByText('/letter.docx').waitFor()
    expect(await focused(tab)).toBe('Dismiss: /letter.docx')
    await tab.keyboard.press('Enter')
    await ours('button[aria-label="Dismiss: /letter.docx"]').waitFor({ state: 'detached' })
    expect(await tab.evaluate('document.activeElement.className')).toBe('concerns')
  })

  test('what is typed stays, and a button that becomes another keeps the focus', async () => {
    const field = ours('section[id^="kept-"] input[type="text"]')
    await field.fill('offers')
    await reach(tab, `Pause: ${drive}`)
    await tab.keyboard.press('Enter')
    await ours(`button[aria-label="Go on: ${drive}"]`).waitFor()
    expect(await focused(tab)).toBe(`Go on: ${drive}`)
    await desk.save(join(drive, 'paused.txt'), 'x')
    await ours('h3').getByText('Waiting to be sent').waitFor()
    await tab.keyboard.press('Enter')
    await ours('h3').getByText('Being sent').waitFor()
    expect(await field.inputValue()).toBe('offers')
    await ours(`button[aria-label="Keep on this machine: ${drive}"]`).click()
    await ours('.name').getByText('/offers', { exact: true }).waitFor()
    expect(await field.inputValue()).toBe('')
  })

  test('the versions of a document are shown, and one comes back by keyboard alone', async () => {
    const saved = async (text: string): Promise<void> => {
      await desk.save(join(drive, 'offers/summer.txt'), text)
      await desk.docmount('wait', join(drive, 'offers'))
    }
    await saved('the first')
    await saved('the second version')
    await saved('the third')
    await run('timeout', ['200', 'rm', join(drive, 'reports/may.txt')])
    await desk.docmount('wait', join(drive, 'reports'))
    const section = ours('section').filter({ hasText: 'Deleted and replaced' })
    await section.locator('input[type="text"]').fill(join(drive, 'offers/summer.txt'))
    await tab.keyboard.press('Enter')
    await section.getByText(/replaced · stored .* · 18 bytes/).waitFor()
    await section.scrollIntoViewIfNeeded()
    if (pictures !== undefined) await section.screenshot({ path: join(pictures, 'ui-versions.png') })
    await section.getByText(/replaced · stored .* · 9 bytes/).waitFor()
    await section.locator('button[aria-label^="Restore: /offers/summer.txt, replaced"]').last().focus()
    await tab.keyboard.press('Enter')
    await tab.locator('#messages').getByText('/offers/summer.txt is back').waitFor()
    expect((await run('timeout', ['200', 'cat', join(drive, 'offers/summer.txt')])).stdout).toBe('the first')
    await section.locator(`button[aria-label="What was deleted: ${drive}"]`).click()
    await section.locator('button[aria-label^="Restore: /reports/may.txt, deleted"]').click()
    await tab.locator('#messages').getByText('/reports/may.txt is back').waitFor()
    await section.getByText('Nothing of it was deleted or replaced here lately.').waitFor()
    await section.locator('button[aria-label="Close: /"]').click()
    await section.locator('h4').waitFor({ state: 'detached' })
  })

  test('without the script the page is as true, and its buttons work', async () => {
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 360, height: 740 },
    })
    const other = await plain.newPage()
    await other.goto(page.address)
    await desk.testService.stop()
    await desk.save(join(drive, 'later.txt'), 'later')
    await desk.docmount('refresh', drive)
    const away = other.getByText(/The service has been away since/)
    for (let turn = 0; turn < 20 && (await away.count()) === 0; turn++) await other.reload()
    // Also in what is folded away: the log.
    const text = (await other.locator('article').first().textContent()) ?? ''
    expect(text).toMatch(
      /the service is away: the drive shows what it last knew\s+reason=no connection: nothing/,
    )
    expect(text).not.toMatch(developersWords)
    await other.getByRole('button', { name: 'Ask it now: the service' }).click()
    await other
      .getByText(/Trying .* again|Asking the service again/)
      .first()
      .waitFor()
    await desk.testService.start()
    await plain.close()
  })

  test('every button and every opened part is reached by Tab, and has a name', async () => {
    await tab.goto(`http://127.0.0.1:${page.port}/`)
    const names = await tab
      .locator('button')
      .evaluateAll((buttons) => buttons.map((button) => button.ariaLabel ?? ''))
    expect(names.length).toBeGreaterThan(0)
    for (const name of names.slice(0, 3)) await reach(tab, name)
  })

  test('a drive is given a key and room, unmounted, and mounted again, by its buttons', async () => {
    const says = (words: RegExp): Promise<void> => tab.locator('#messages').getByText(words).first().waitFor()
    const button = (label: string) => tab.locator(`button[aria-label^="${label}"]`).first()
    await tab.bringToFront()
    await button('Unpin: /reports').click()
    await says(/\/reports stays only as long as there is room/)
    await button('Free space: the cache').click()
    await says(/Freed \d.*; what is pinned or not sent stays/)
    await ours('summary').getByText('New key', { exact: true }).click()
    await ours('input[type="password"]').fill(await desk.testService.service.createKey(project))
    await reach(tab, `Use this key: ${desk.testService.baseUrl}`)
    await tab.keyboard.press('Enter')
    await says(/The key is accepted and kept/)
    expect(await focused(tab)).toBe(`Use this key: ${desk.testService.baseUrl}`)
    await button(`Open folder: ${drive}`).click()
    await waitUntil('it', async () => (await readFile(join(desk.home, 'opened'), 'utf8')).startsWith(drive))
    await desk.docmount('wait', drive)
    await button(`Unmount: ${drive}`).click()
    await says(/Unmounted/)
    expect(await desk.living()).toEqual([])
    await button(`Mount: ${drive}`).click()
    await says(/acme is mounted at /)
    expect(await desk.living()).toHaveLength(1)
  })

  test('nothing came from elsewhere, and no rule of its own was broken', () => {
    expect([...requested]).toEqual([`127.0.0.1:${page.port}`])
    expect(complaints.filter((text) => !text.includes('ERR_INCOMPLETE_CHUNKED_ENCODING'))).toEqual([])
  })

  test('when docmount ui ends, the page says so', async () => {
    await tab.locator('#live').getByText('live', { exact: true }).waitFor()
    await page.end()
    await tab
      .locator('#live')
      .getByText(/no connection: has docmount ui ended/)
      .waitFor()
  })
})

const focused = (tab: Tab): Promise<unknown> => tab.evaluate('document.activeElement.ariaLabel')

/** Presses Tab until a button has the focus. */
async function reach(tab: Tab, name: string): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    if ((await focused(tab)) === name) return
    await tab.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}

/** Content of the project, and a file manager that writes down what it was asked for. */
async function prepare(desk: Desk): Promise<void> {
  const { baseUrl, apiKey, other } = desk.testService
  await other.put('/offers/spring.txt', 'first')
  for (const name of ['may', 'june']) await other.put(`/reports/${name}.txt`, name.repeat(2000))
  const client = createClient({ baseUrl, apiKey })
  const tables = client.tables(project)
  const { id = '' } = await tables.create({ name: 'invoices', settings: { type: 'reconcile' } })
  await tables.forward(id, [{ assetName: 'INV-1', rowData: { number: 'INV-1', total: 12 } }])
  await client.close()
  const programs = join(desk.home, 'bin')
  await mkdir(programs)
  await writeFile(join(programs, 'xdg-open'), `#!/bin/sh\necho "$1" >"${desk.home}/opened"\n`)
  await chmod(join(programs, 'xdg-open'), 0o755)
  desk.env = { ...desk.env, PATH: `${programs}:${desk.env['PATH']}` }
  await writeFile(join(desk.home, 'plan.pdf'), Buffer.alloc(4_000_000, '%PDF-1.4 '))
}

/** A refusal, a name that is refused, a conflict, a pin and a run. */
async function makeTrouble(desk: Desk, drive: string): Promise<void> {
  const { service, other } = desk.testService
  await desk.docmount('pin', join(drive, 'reports'))
  service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 1 })
  await desk.save(join(drive, 'minutes.txt'), 'what was said')
  await desk.docmount('wait', drive)
  await desk.save(join(drive, 'letter.docx'), 'x')
  await run('timeout', ['200', 'cat', join(drive, 'offers/spring.txt')])
  await other.put('/offers/spring.txt', 'theirs')
  await desk.save(join(drive, 'offers/spring.txt'), 'ours')
  await desk.docmount('wait', join(drive, 'offers'))
  await desk.save(
    join(drive, '.tables/invoices/reconcile/payment.json'),
    '{"number": "INV-1", "total": null}',
  )
}
