// One request and its answer, as the methods use them: parsed headers, the body, and ways to answer.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PendingPuts } from './pending-puts.ts'
import { clientOf } from './connections.ts'
import type { DeadProperties } from './dead-properties.ts'
import type { EmptyDocuments } from './empty-documents.ts'
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
  readonly emptyDocuments: EmptyDocuments
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
  /** The request's `Host` header. */
  readonly host: string
}

const maximumXmlBytes = 64 * 1024
export const defaultLockMs = 600_000

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly door: Door
  readonly walk: PathWalk
  /** Names of the request's resource, as the client spelled them. */
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

  /** IP address of the client, which stands for it: all clients use one password. */
  get client(): string {
    return clientOf(this.request.socket)
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** `Depth` header; infinity if absent (RFC 4918, section 10.2). Throws Refused (400). */
  get depth(): Depth {
    const text = this.header('depth')?.toLowerCase() ?? 'infinity'
    if (text === 'infinity') return 'infinity'
    if (text === '0') return 0
    if (text === '1') return 1
    throw new Refused(400, 'Depth is 0, 1 or infinity')
  }

  /** `Overwrite` header; true if absent (section 10.6). Throws Refused (400) for any other value, which may mean false. */
  get mayOverwrite(): boolean {
    const text = this.header('overwrite')?.trim().toUpperCase() ?? 'T'
    if (text === 'T' || text === 'F') return text === 'T'
    throw new Refused(400, 'Overwrite is T or F')
  }

  /** Names in the `Destination` header. Throws Refused: 400 if it is absent, 502 if it is on another server. */
  get destination(): readonly string[] {
    const text = this.header('destination')
    if (text === undefined) throw new Refused(400, 'a Destination header is needed')
    const host = /^https?:\/\/([^/]*)/i.exec(text)?.[1]
    if (host !== undefined && host.replace(/^.*@/, '').toLowerCase() !== this.#host.toLowerCase())
      throw new Refused(502, 'the destination is on another server')
    return namesOfTarget(text)
  }

  /** Requested lifetime of a lock, in ms; undefined if the client names none. */
  get lockTimeoutMs(): number | undefined {
    const first = this.header('timeout')?.split(',')[0]?.trim()
    if (first === undefined) return undefined
    if (/^infinite$/i.test(first)) return longestMs
    const seconds = /^second-(\d+)$/i.exec(first)?.[1]
    return seconds === undefined ? defaultLockMs : Math.min(Number(seconds) * 1000, longestMs)
  }

  /** Checks the `If` header, and the locks of the resources to be changed, if any. Throws Refused (412, 423): see permission.ts. */
  async checkLocks(...changes: readonly Change[]): Promise<void> {
    const { walk, names, door } = this
    await checkPermission({ walk, names, locks: door.locks, ifHeader: this.header('if') }, changes)
  }

  /** Checks the locks once more, after a long body. Throws Refused (423). */
  checkLocksAgain(change: Change): void {
    const { walk, names, door } = this
    checkLocksAgain({ walk, names, locks: door.locks, ifHeader: this.header('if') }, change)
  }

  /** The body, piece by piece. Throws Refused (408) when the client sends nothing for too long, and errors of the connection. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    const { request, response, door } = this
    const { silenceMs } = door.timeouts
    if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue()
    // The connection stays open after a refusal, so that the client can read it.
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

  /** Resolves with the body as XML; undefined if it is empty. Throws Refused (400, 413). */
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

  /** Throws Refused (415) if the request has a body. */
  async refuseBody(): Promise<void> {
    for await (const chunk of this.body())
      if (chunk.length > 0) throw new Refused(415, 'this method takes no body')
  }

  /** Sets an answer without a body. It is sent by `sendAnswer`, after the method. */
  end(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#answer = { status, headers: { ...headers, ...(status === 204 ? {} : { 'content-length': '0' }) } }
  }

  /** Sets an answer with an XML body. */
  endXml(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    const body = Buffer.from(text)
    const length = String(body.length)
    this.#answer = {
      status,
      headers: { ...headers, 'content-type': 'application/xml; charset=utf-8', 'content-length': length },
      body,
    }
  }

  /** Sends the answer that was set; GET and PROPFIND send theirs themselves, piece by piece. */
  sendAnswer(): void {
    if (this.#answer === undefined) return
    this.response.writeHead(this.#answer.status, this.#answer.headers)
    this.response.end(this.#answer.body)
  }

  /** Returns the `Location` header for a new resource. */
  locationOf(names: readonly string[], isFolder: boolean): Readonly<Record<string, string>> {
    return { location: hrefOf(names, isFolder) }
  }

  /** Writes a piece, and resolves when the client can take more. Throws when it disconnects, or reads nothing for too long. */
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
