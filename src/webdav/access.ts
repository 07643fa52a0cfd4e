// Access to the WebDAV door: for clients that know the password and use a host name of this machine, and for no web page.
//
// Basic sends the password with every request, so it is meant for TLS and for this machine. Windows accepts it over TLS only, hence
// Digest (RFC 7616) without TLS; with MD5, since Windows supports nothing else.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Refused } from './refused.ts'

export interface AccessOptions {
  readonly user: string
  readonly password: string
  readonly hasTls: boolean
  /** Address at which the server listens. */
  readonly host: string
  /** Host names of this door, besides its address. */
  readonly hostNames: readonly string[]
}

const realm = 'docmount'
const nonceLifeMs = 3_600_000
const loopbackNames = ['localhost', '127.0.0.1', '::1']

const wrong = 'the user or the password is wrong: docmount status names the file that has the password'

export class Access {
  readonly #options: AccessOptions
  readonly #secret = randomBytes(32)

  constructor(options: AccessOptions) {
    this.#options = options
  }

  /** Throws Refused: 421 for a foreign host name, 403 for a web page, 401 without the password. */
  check(request: IncomingMessage): void {
    this.#checkHost(request.headers.host)
    this.#checkOrigin(request.headers)
    const [, scheme = '', said = ''] = /^(\w+)\s+(.*)$/.exec(request.headers.authorization ?? '') ?? []
    if (scheme.toLowerCase() === 'basic' && this.#isBasic(said)) return
    if (scheme === '') throw this.#unauthorized('user and password are needed')
    const fields = fieldsOf(said)
    const isDigest = scheme.toLowerCase() === 'digest' && !this.#options.hasTls
    if (!isDigest || !this.#isDigest(fields, request)) throw this.#unauthorized(wrong)
    // The nonce is old, or of an earlier start of the drive: the client repeats the request with the new one.
    if (!this.#isFresh(fields.get('nonce') ?? '')) throw this.#unauthorized('a newer nonce is needed', true)
  }

  /** DNS rebinding: a web page whose own name points here would reach the drive. */
  #checkHost(header: string | undefined): void {
    const name = hostNameOf(header ?? '')
    const { host, hostNames } = this.#options
    const isLoopback = loopbackNames.includes(host)
    const isOurs =
      hostNames.some((other) => other.toLowerCase() === name) ||
      (isLoopback ? loopbackNames.includes(name) : isIP(name) !== 0)
    if (!isOurs) throw new Refused(421, `${name} is no name of this drive; --host-name makes it one`)
  }

  /** Only web pages send an Origin. */
  #checkOrigin({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
    const isPage = site !== undefined && site !== 'same-origin' && site !== 'none'
    if (origin !== undefined || isPage) throw new Refused(403, 'web pages have no access to this drive')
  }

  #isBasic(said: string): boolean {
    const { user, password } = this.#options
    return isSame(Buffer.from(said, 'base64').toString('utf8'), `${user}:${password}`)
  }

  #isDigest(fields: ReadonlyMap<string, string>, { method, url }: IncomingMessage): boolean {
    const { user, password } = this.#options
    const field = (name: string): string => fields.get(name) ?? ''
    if (field('username') !== user || field('uri') !== url || field('qop') !== 'auth') return false
    const userHash = md5(`${user}:${realm}:${password}`)
    const asked = md5(`${method}:${field('uri')}`)
    const proof = [userHash, field('nonce'), field('nc'), field('cnonce'), field('qop'), asked].join(':')
    return isSame(field('response'), md5(proof))
  }

  #unauthorized(why: string, isStale = false): Refused {
    const digest = `Digest realm="${realm}", qop="auth", algorithm=MD5, nonce="${this.#nonce(Date.now())}"${isStale ? ', stale=true' : ''}`
    const basic = `Basic realm="${realm}", charset="UTF-8"`
    const challenge = this.#options.hasTls ? basic : `${digest}, ${basic}`
    return new Refused(401, why, { headers: { 'www-authenticate': challenge } })
  }

  #nonce(timeMs: number): string {
    const time = timeMs.toString(36)
    return `${time}.${createHmac('sha256', this.#secret).update(time).digest('base64url')}`
  }

  #isFresh(nonce: string): boolean {
    const madeMs = Number.parseInt(nonce, 36)
    return isSame(nonce, this.#nonce(madeMs)) && Math.abs(Date.now() - madeMs) < nonceLifeMs
  }
}

/** Returns the name without the port; an IPv6 address without its brackets. */
function hostNameOf(host: string): string {
  const name = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, '')
  return name.toLowerCase()
}

function fieldsOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)
  return new Map(
    Array.from(found, ([, name = '', quoted, plain]) => [
      name.toLowerCase(),
      quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '',
    ]),
  )
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
