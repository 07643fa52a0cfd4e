// Access to the page: this user's browser, which was given the address with the token, and no other web page.
//
// The token is in the address once: it is answered by a cookie and a redirect, so that it is in no history, no Referer and no
// bookmark. Cookies know no ports, hence the name; what a page elsewhere on this machine does with it is refused by Origin and
// Sec-Fetch-Site, and a change needs the form's own word besides.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { userAtOtherEnd } from './peer.ts'
import { Refused } from './refused.ts'

export interface AccessOptions {
  readonly port: number
  /** Whose browser may come besides root's; undefined: anybody's. */
  readonly uid: number | undefined
}

const noEntry = 'this page opens by the address that docmount ui printed: copy it whole'

export class Access {
  readonly #port: number
  readonly #uid: number | undefined
  readonly #token = randomBytes(24).toString('base64url')
  readonly #session = randomBytes(24).toString('base64url')
  /** In every form of the page. */
  readonly formWord: string = randomBytes(24).toString('base64url')

  constructor({ port, uid }: AccessOptions) {
    this.#port = port
    this.#uid = uid
  }

  /** The address a person opens. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`
  }

  /** Sets the cookie of whoever came with the token. */
  get cookie(): string {
    return `${this.#cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`
  }

  get #cookieName(): string {
    return `docmount-ui-${this.#port}`
  }

  /**
   * True where the token was right and the cookie is to be set. Throws Refused: 421 for a foreign name, 403 for another
   * web page, another user, or without token and cookie.
   */
  async check(request: IncomingMessage, url: URL): Promise<boolean> {
    const { host, origin, 'sec-fetch-site': site } = request.headers
    const hosts = [`127.0.0.1:${this.#port}`, `localhost:${this.#port}`]
    // A name that was pointed here by somebody else brings somebody else's page.
    if (host === undefined || !hosts.includes(host.toLowerCase()))
      throw new Refused(421, 'this page is at 127.0.0.1 only')
    const isForeign = origin !== undefined && origin !== `http://${host}`
    if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none'))
      throw new Refused(403, 'other web pages have no access to this one')
    const uid = await userAtOtherEnd(request.socket)
    if (uid !== undefined && this.#uid !== undefined && uid !== this.#uid && uid !== 0)
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
  checkForm(word: string | null): void {
    if (!isSame(word ?? '', this.formWord))
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

/** In a time that tells nothing. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
