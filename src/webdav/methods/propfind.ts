// PROPFIND: the properties of a resource, and with Depth 1 of its children.

import type { Exchange } from '../exchange.ts'
import { isLive, liveProperty, standardNames } from '../live-properties.ts'
import { hrefOf, pathOf } from '../names.ts'
import { Refused } from '../refused.ts'
import type { Resource } from '../path-walk.ts'
import { davChildren, elementsOf, type Element } from '../xml-read.ts'
import { dav, emptyElement, multistatusEnd, multistatusHead, statusLine } from '../xml-write.ts'

interface Name {
  readonly uri: string
  readonly local: string
}

/** Requested properties. `all`: all of `allprop`, and also `names`. `names`: only the names of all. `some`: only `names`. */
type Wish =
  | { readonly kind: 'all'; readonly names: readonly Name[] }
  | { readonly kind: 'names' }
  | { readonly kind: 'some'; readonly names: readonly Name[] }

/** Responses are written in pieces of about this length. */
const pieceLength = 64 * 1024

export async function propfind(exchange: Exchange): Promise<void> {
  const { walk, depth } = exchange
  const wish = wishOf(await exchange.xml())
  const resource = await walk.get(exchange.names)
  // A read changes no resource: only the `If` header is checked.
  await exchange.checkLocks()
  const isFolder = resource.attributes.kind === 'folder'
  if (depth === 'infinity' && isFolder) {
    const condition = 'propfind-finite-depth'
    throw new Refused(403, 'folders are listed one at a time: Depth is 0 or 1', { condition })
  }
  const children = depth === 1 && isFolder ? await walk.children(resource) : []
  exchange.response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' })
  let piece = multistatusHead
  for (const one of [resource, ...children]) {
    piece += responseOf(exchange, one, wish)
    if (piece.length < pieceLength) continue
    await exchange.write(piece)
    piece = ''
  }
  exchange.response.end(piece + multistatusEnd)
}

/** Parses the body; an empty one requests all. Throws Refused (400). */
function wishOf(body: Element | undefined): Wish {
  if (body === undefined) return { kind: 'all', names: [] }
  if (body.uri !== 'DAV:' || body.local !== 'propfind') throw new Refused(400, 'the body is no propfind')
  const [prop] = davChildren(body, 'prop')
  if (prop !== undefined) return { kind: 'some', names: elementsOf(prop) }
  if (davChildren(body, 'propname').length > 0) return { kind: 'names' }
  if (davChildren(body, 'allprop').length === 0) throw new Refused(400, 'the propfind asks for nothing')
  return { kind: 'all', names: davChildren(body, 'include').flatMap(elementsOf) }
}

function responseOf(exchange: Exchange, resource: Resource, wish: Wish): string {
  const href = dav('href', hrefOf(resource.names, resource.attributes.kind === 'folder'))
  const { found, missing } = propertiesOf(exchange, resource, wish)
  const foundStat = propstat(found, 200)
  const missingStat = missing === '' ? '' : propstat(missing, 404)
  return `${dav('response', href + (found === '' && missing !== '' ? '' : foundStat) + missingStat)}\n`
}

function propstat(properties: string, status: number): string {
  return dav('propstat', dav('prop', properties) + statusLine(status))
}

function propertiesOf(
  exchange: Exchange,
  resource: Resource,
  wish: Wish,
): { found: string; missing: string } {
  const dead = exchange.door.properties.of(pathOf(resource.names))
  const live = (local: string): string | undefined => liveProperty(local, resource, exchange)
  if (wish.kind === 'names') {
    const liveNames = standardNames.filter((local) => live(local) !== undefined)
    const names = [...liveNames.map((local) => ({ uri: 'DAV:', local })), ...dead]
    return { found: names.map(emptyElement).join(''), missing: '' }
  }
  const all =
    wish.kind === 'all'
      ? standardNames.map((local) => live(local) ?? '').join('') + dead.map(({ source }) => source).join('')
      : ''
  const asked = wish.kind === 'all' ? wish.names.filter(({ uri, local }) => !isUsual(uri, local)) : wish.names
  let found = all
  let missing = ''
  for (const name of asked) {
    const value =
      name.uri === 'DAV:' && isLive(name.local)
        ? live(name.local)
        : dead.find(({ uri, local }) => uri === name.uri && local === name.local)?.source
    if (value === undefined) missing += emptyElement(name)
    else found += value
  }
  return { found, missing }
}

function isUsual(uri: string, local: string): boolean {
  return uri === 'DAV:' && standardNames.includes(local)
}
