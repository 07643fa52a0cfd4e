// Presigned links: `{origin}/api/download/{node id}?expires={epoch ms}&signature=…`. The signature covers no host, so a link works
// through any proxy in front of the service.
//
//   link key  = HMAC-SHA256(secret, expires)      one for all links of a listing
//   signature = SHA-256(link key ‖ node id)
//
// A plain hash over key and text is safe only without length extension: node ids are uuids, all of one length, and any other
// text is refused before it is hashed.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'

export interface Signer {
  /** Returns a link to a node's content, valid from `now` (epoch ms) for the lifetime of the signer. */
  sign(origin: string, nodeId: string, now: number): string
  check(link: Link, now: number): LinkState
}

/** The parts of a link that are checked; the origin is not. */
export interface Link {
  readonly nodeId: string
  readonly expires: string
  readonly signature: string
}

export type LinkState = 'valid' | 'expired' | 'forged'

const downloadPath = '/api/download/'
const nodeIdPattern = /^[0-9a-f-]{36}$/
const idBytes = 36

/** The secrets may change at any time; they are read for each link. */
export interface LinkSecrets {
  readonly current: Buffer
  /** All secrets whose links may still be valid, the current one included. */
  readonly known: readonly Buffer[]
}

export function createSigner(secrets: LinkSecrets, lifetimeMs: number): Signer {
  let last: { expires: string; secret: Buffer; key: Buffer } | undefined

  function signatureOf(nodeId: string, expires: string, secret: Buffer): string {
    if (last?.expires !== expires || last.secret !== secret)
      last = { expires, secret, key: createHmac('sha256', secret).update(expires).digest() }
    const text = Buffer.allocUnsafe(last.key.byteLength + idBytes)
    last.key.copy(text)
    text.write(nodeId, last.key.byteLength, 'latin1')
    return hash('sha256', text, 'base64url')
  }

  return {
    sign(origin, nodeId, now) {
      const expires = String(now + lifetimeMs)
      return `${origin}${downloadPath}${nodeId}?expires=${expires}&signature=${signatureOf(nodeId, expires, secrets.current)}`
    },
    check(link, now) {
      if (!nodeIdPattern.test(link.nodeId)) return 'forged'
      const given = Buffer.from(link.signature)
      const isSigned = secrets.known.some((secret) => {
        const expected = Buffer.from(signatureOf(link.nodeId, link.expires, secret))
        return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
      })
      if (!isSigned) return 'forged'
      return now < Number(link.expires) ? 'valid' : 'expired'
    },
  }
}

/** Splits a URL that has the shape of a presigned link; undefined for any other URL. Does not check the signature. */
export function parseLink(url: URL): Link | undefined {
  // A proxy may serve the service below a path prefix.
  const at = url.pathname.indexOf(downloadPath)
  if (at === -1) return undefined
  const nodeId = url.pathname.slice(at + downloadPath.length)
  const expires = url.searchParams.get('expires')
  const signature = url.searchParams.get('signature')
  if (nodeId === '' || expires === null || signature === null) return undefined
  return { nodeId, expires, signature }
}
