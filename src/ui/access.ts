// Access to the page: only for this user's browser, opened with the token in the address, and for no other web page.
//
// The first request with the token gets a cookie and a redirect, so that the token is in no history, Referer or bookmark.
// Cookies ignore ports, so the port is in the cookie's name. Requests of other pages on this machine, which get the cookie,
// too, are refused by Origin and Sec-Fetch-Site; a change also needs the token in the form.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { userAtOtherEnd } from './peer.ts'
import { Refused } from './refused.ts'

export interface AccessOptions {
  readonly port: number
  /** User whose browser has access, besides root's; undefined: any user's. */
  readonly uid: number | undefined
}

const noEntry = 'this page opens by the address that docmount ui printed: copy it whole'

export class Access {
  readonly #port: number
  readonly #uid: number | undefined
  readonly #token = randomBytes(24).toString('base64url')
  readonly #session = randomBytes(24).toString('base64url')
  /** Secret in each form of the page: proves that the form was sent from it. */
  readonly formToken: string = randomBytes(24).toString('base64url')

  constructor({ port, uid }: AccessOptions) {
    this.#port = port
    this.#uid = uid
  }

  /** Address of the page, with the token. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`
  }

  /** Set-Cookie header for a browser that had the token. */
  get cookie(): string {
    return `${this.#cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`
  }

  get #cookieName(): string {
    return `docmount-ui-${this.#port}`
  }

  /**
   * Resolves with true if the request has the token: answer it with the cookie. Throws Refused: 421 for another host name, 403 for
   * another web page, another user, or without token and cookie.
   */
  async check(request: IncomingMessage, url: URL): Promise<boolean> {
    const { host, origin, 'sec-fetch-site': site } = request.headers
    const hosts = [`127.0.0.1:${this.#port}`, `localhost:${this.#port}`]
    // DNS rebinding: another site may point its own name at this address.
    if (host === undefined || !hosts.includes(host.toLowerCase()))
      throw new Refused(421, 'this page is at 127.0.0.1 only')
    const isForeign = origin !== undefined && origin !== `http://${host}`
    if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none'))
      throw new Refused(403, 'other web pages have no access to this one')
    // `gone`, a program that has closed its end, is refused as well: nobody waits for the answer.
    const uid = await userAtOtherEnd(request.socket)
    if (this.#uid !== undefined && uid !== undefined && uid !== this.#uid && uid !== 0)
      throw new Refused(403, 'this page belongs to another user of this machine')
    const token = url.searchParams.get('token')
    if (token !== null && request.method === 'GET') {
      if (isSame(token, this.#token)) return true
      throw new Refused(403, `the token is not the right one: ${noEntry}`)
    }
    if (!isSame(cookieIn(request.headers.cookie, this.#cookieName), this.#session))
      throw new Refused(403, noEntry)
    return false
  }

  /** Throws Refused for a form that did not come from the page. */
  checkForm(token: string | null): void {
    if (!isSame(token ?? '', this.formToken))
      throw new Refused(403, 'this form is of an older page: load it anew')
  }
}

function cookieIn(header: string | undefined, name: string): string {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', value = ''] = pair.trim().split('=', 2)
    if (key === name) return value
  }
  return ''
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
