// One request and its answer, as the methods see them: words of WebDAV instead of headers.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PendingPuts } from './pending-puts.ts'
import { clientOf } from './connections.ts'
import type { DeadProperties } from './dead-properties.ts'
import type { LockMade } from './lock-made.ts'
import { longestMs, type Locks } from './locks.ts'
import { hrefOf, namesOfTarget } from './names.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { checkLocksAgain, checkPermission, type Change } from './permission.ts'
import { Refused } from './refused.ts'
import type { PathWalk } from './path-walk.ts'
import { parseXml, type Element } from './xml-read.ts'

/** Parts shared by all requests. */
export interface Door {
  readonly locks: Locks
  readonly lockMade: LockMade
  readonly properties: DeadProperties
  readonly pendingPuts: PendingPuts
  readonly isReadOnly: boolean
  /** Content type of a document, by its name. */
  readonly contentTypeOf: (name: string) => string | undefined
  readonly timeouts: ClientTimeouts
}

export type Depth = 0 | 1 | 'infinity'

export interface ExchangeParts {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly door: Door
  readonly walk: PathWalk
  /** Where this door is reached: its own `Host` header. */
  readonly host: string
}

const maximumXmlBytes = 64 * 1024
export const defaultLockMs = 600_000

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly door: Door
  readonly walk: PathWalk
  /** Of the request's resource; as the client spelled them. */
  readonly names: readonly string[]
  readonly #host: string
  #answer: { status: number; headers: Readonly<Record<string, string>>; body?: Uint8Array } | undefined

  constructor({ request, response, door, walk, host }: ExchangeParts) {
    this.request = request
    this.response = response
    this.door = door
    this.walk = walk
    this.#host = host
    this.names = namesOfTarget(request.url ?? '/')
  }

  /** Address of the client, as far as it can be told: clients have one password. */
  get client(): string {
    return clientOf(this.request.socket)
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Absent means infinity (RFC 4918, section 10.2). Throws Refused (400). */
  get depth(): Depth {
    const text = this.header('depth')?.toLowerCase() ?? 'infinity'
    if (text === 'infinity') return 'infinity'
    if (text === '0') return 0
    if (text === '1') return 1
    throw new Refused(400, 'Depth is 0, 1 or infinity')
  }

  /** Absent means yes (section 10.6). Throws Refused (400): what cannot be read may have meant no. */
  get mayOverwrite(): boolean {
    const text = this.header('overwrite')?.trim().toUpperCase() ?? 'T'
    if (text === 'T' || text === 'F') return text === 'T'
    throw new Refused(400, 'Overwrite is T or F')
  }

  /** Throws Refused: 400 where there is none, 502 where it is on another server. */
  get destination(): readonly string[] {
    const text = this.header('destination')
    if (text === undefined) throw new Refused(400, 'a Destination header is needed')
    const host = /^https?:\/\/([^/]*)/i.exec(text)?.[1]
    if (host !== undefined && host.replace(/^.*@/, '').toLowerCase() !== this.#host.toLowerCase())
      throw new Refused(502, 'the destination is on another server')
    return namesOfTarget(text)
  }

  /** Milliseconds a lock is wished for. */
  get lockTimeoutMs(): number | undefined {
    const first = this.header('timeout')?.split(',')[0]?.trim()
    if (first === undefined) return undefined
    if (/^infinite$/i.test(first)) return longestMs
    const seconds = /^second-(\d+)$/i.exec(first)?.[1]
    return seconds === undefined ? defaultLockMs : Math.min(Number(seconds) * 1000, longestMs)
  }

  /** Throws Refused (412, 423): see permission.ts. */
  async mayChange(...changes: readonly Change[]): Promise<void> {
    const { walk, names, door } = this
    await checkPermission({ walk, names, locks: door.locks, ifHeader: this.header('if') }, changes)
  }

  /** After a long body. Throws Refused (423). */
  mayStillChange(change: Change): void {
    const { walk, names, door } = this
    checkLocksAgain({ walk, names, locks: door.locks, ifHeader: this.header('if') }, change)
  }

  /** The body, piece by piece. Throws Refused (408) when the client falls silent; what the connection throws when it breaks. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    const { request, response, door } = this
    const { silenceMs } = door.timeouts
    if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue()
    // The unread rest is left to be taken, so that a refusal is heard.
    const chunks = request.iterator({ destroyOnReturn: false }) as AsyncGenerator<Uint8Array>
    try {
      for (;;) {
        const timer = setTimeout(() => request.destroy(silent()), silenceMs)
        const next = await chunks.next().finally(() => clearTimeout(timer))
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await chunks.return(undefined)
    }
  }

  /** The body as XML; undefined where there is none. Throws Refused (400, 413). */
  async xml(): Promise<Element | undefined> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of this.body()) {
      bytes += chunk.length
      if (bytes > maximumXmlBytes) throw new Refused(413, 'such a body is at most 64 KiB long')
      chunks.push(chunk)
    }
    if (bytes === 0) return undefined
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
    } catch {
      throw new Refused(400, 'the body is not UTF-8')
    }
    return parseXml(text)
  }

  /** Throws Refused (415): this method takes no body. */
  async noBody(): Promise<void> {
    for await (const chunk of this.body())
      if (chunk.length > 0) throw new Refused(415, 'this method takes no body')
  }

  /** The answer is nothing but headers. It is said when the method is done. */
  end(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#answer = { status, headers: { ...headers, ...(status === 204 ? {} : { 'content-length': '0' }) } }
  }

  /** As `end`. */
  endXml(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    const body = Buffer.from(text)
    const length = String(body.length)
    this.#answer = {
      status,
      headers: { ...headers, 'content-type': 'application/xml; charset=utf-8', 'content-length': length },
      body,
    }
  }

  /** Sends the answer, where the method has not sent one itself, piece by piece. */
  say(): void {
    if (this.#answer === undefined) return
    this.response.writeHead(this.#answer.status, this.#answer.headers)
    this.response.end(this.#answer.body)
  }

  /** Where something was made. */
  created(names: readonly string[], isFolder: boolean): Readonly<Record<string, string>> {
    return { location: hrefOf(names, isFolder) }
  }

  /** Writes when the client has taken what came before. Throws when it hangs up, or takes nothing for too long. */
  async write(chunk: string | Uint8Array): Promise<void> {
    const { response, door } = this
    if (response.write(chunk)) return
    await new Promise<void>((resolve, reject) => {
      const give = (error?: Error): void => {
        clearTimeout(timer)
        response.off('drain', drained).off('close', closed)
        if (error === undefined) resolve()
        else reject(error)
      }
      const drained = (): void => give()
      const closed = (): void => give(new Refused(499, 'the client hung up'))
      const timer = setTimeout(() => {
        response.destroy()
        give(new Refused(408, 'the client took nothing for too long'))
      }, door.timeouts.silenceMs)
      if (response.destroyed) closed()
      else response.once('drain', drained).once('close', closed)
    })
  }
}

function silent(): Refused {
  return new Refused(408, 'the client sent nothing for too long')
}
