// The server of the page, on the loopback address. Its data comes from the drives' daemons, over their control sockets.

import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PathOnMount } from '../daemon/find-mount.ts'
import { Access } from './access.ts'
import type { Action, ActionOptions } from './action.ts'
import { actions } from './actions.ts'
import { plainReason } from './plain-words.ts'
import { html } from './html.ts'
import { Live } from './live.ts'
import { idOf, PageDataReader, type PageData } from './page-data.ts'
import { mainPart, page, type ActionResult } from './page.ts'
import { Refused } from './refused.ts'

export interface UiOptions extends Omit<ActionOptions, 'signal' | 'showFormer'> {
  /** 0: any free port. */
  readonly port: number
  /** The page opens with what was deleted and replaced at and under this path. */
  readonly shown?: PathOnMount | undefined
}

export interface UiServer {
  /** Address of the page, with its token. */
  readonly address: string
  /** Resolves once no browser has shown the page for this long. */
  unused(forMs: number): Promise<void>
  close(): Promise<void>
}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer`, browsers would hide the origin of a form.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}
const assets: ReadonlyMap<string, string> = new Map([
  ['/page.css', 'text/css; charset=utf-8'],
  ['/page.js', 'text/javascript; charset=utf-8'],
  ['/icon.svg', 'image/svg+xml'],
])
const mostFormBytes = 64 * 1024
const maxResults = 5
/** Longest wait for an action before its form is answered; the result then appears on the page later. */
const patienceMs = 3_000
const maximumConnections = 64

/** Resolves when it listens. Rejects if it cannot (EADDRINUSE, EACCES). */
export async function startUi(options: UiOptions): Promise<UiServer> {
  const reader = new PageDataReader(options.cli)
  const showFormer: ActionOptions['showFormer'] = (drive, path) => reader.showFormer(drive, path)
  const results: ActionResult[] = []
  const closing = new AbortController()
  const live = new Live(() => parts().then((found) => mainPart(found).text, errorPart))
  let access: Access | undefined
  const shownDrive = options.shown === undefined ? undefined : idOf(options.shown.found)
  if (shownDrive !== undefined) reader.showFormer(shownDrive, options.shown?.path)
  let openRequests = 0
  let usedAt = performance.now()

  async function parts(): Promise<{
    data: PageData
    results: ActionResult[]
    formToken: string
  }> {
    return { data: await reader.read(), results, formToken: access?.formToken ?? '' }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (access === undefined) throw new Refused(503, 'not ready yet')
    const here = 'http://127.0.0.1'
    if (!URL.canParse(request.url ?? '/', here)) throw new Refused(400, 'the address cannot be read')
    const url = new URL(request.url ?? '/', here)
    if (await access.check(request, url)) {
      response.writeHead(303, { location: '/', 'set-cookie': access.cookie }).end()
      return
    }
    const { pathname } = url
    const action = actions.get(pathname)
    if (action !== undefined) {
      if (request.method !== 'POST') throw new Refused(405, 'this is asked for by a form')
      const form = new URLSearchParams(await readForm(request))
      access.checkForm(form.get('token'))
      await act(action, form)
      response.writeHead(303, { location: '/' }).end()
      return
    }
    if (request.method !== 'GET') throw new Refused(405, 'this is only read')
    const type = assets.get(pathname)
    if (pathname === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(await parts()))
    } else if (pathname === '/live') live.add(response)
    else if (type === undefined) throw new Refused(404, 'there is nothing here')
    else {
      response.writeHead(200, { 'content-type': type })
      createReadStream(new URL(`../ui/assets${pathname}`, import.meta.url))
        .once('error', () => response.destroy())
        .pipe(response)
    }
  }

  function addResult(sentence: string, isFailure: boolean): void {
    results.unshift({ at: new Date(), sentence, isFailure })
    results.splice(maxResults)
  }

  /** Resolves when the action is done, or after `patienceMs`: an unmount may take minutes. Throws Refused (400) for a bad form. */
  async function act(action: Action, form: URLSearchParams): Promise<void> {
    const late = setTimeout(() => {
      addResult('That takes a while: its result will be here.', false)
      void live.update()
    }, patienceMs)
    const done = perform(action, form).finally(() => clearTimeout(late))
    await Promise.race([done, new Promise((later) => setTimeout(later, patienceMs).unref())])
    done.catch(() => {})
  }

  async function perform(action: Action, form: URLSearchParams): Promise<void> {
    try {
      const sentence = await action(form, { ...options, showFormer, signal: closing.signal })
      if (sentence !== undefined) addResult(sentence, false)
    } catch (error) {
      if (error instanceof Refused && error.status === 400) throw error
      addResult(plainReason((error as Error).message), true)
    }
    reader.clearCache()
    await live.update()
  }

  const server = createServer({ headersTimeout: 10_000, requestTimeout: 20_000 }, (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.on('error', () => {})
    openRequests++
    response.once('close', () => {
      openRequests--
      usedAt = performance.now()
    })
    answer(request, response).catch((error: unknown) => sendError(response, error))
  })
  server.maxConnections = maximumConnections
  await listen(server, options.port)
  const { port } = server.address() as AddressInfo
  access = new Access({ port, uid: process.getuid?.() })
  return {
    address: access.address + (shownDrive === undefined ? '' : `#undo-${shownDrive}`),
    async unused(forMs) {
      for (;;) {
        const leftMs = openRequests > 0 ? forMs : usedAt + forMs - performance.now()
        if (leftMs <= 0) return
        await sleep(leftMs)
      }
    },
    async close() {
      closing.abort()
      const closed = new Promise<void>((done) => void server.close(() => done()))
      live.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Returns the page's content after an error; the page continues to poll. */
function errorPart(error: unknown): string {
  return html`<p class="card">
    docmount cannot look at the drives just now: ${plainReason((error as Error).message)}
  </p>`.text
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed)
      listening()
    })
  })
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const status = error instanceof Refused ? error.status : 500
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${(error as Error).message}\n`)
}

/** Throws Refused (413) for a body that is too long. */
async function readForm(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.byteLength
    if (bytes > mostFormBytes) throw new Refused(413, 'the form is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
