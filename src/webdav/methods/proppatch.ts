// PROPPATCH: sets and removes dead properties, all or none. Live properties are refused.

import type { DeadProperty } from '../dead-properties.ts'
import type { Exchange } from '../exchange.ts'
import type { Time } from '../../fs/operations.ts'
import { isLive } from '../live-properties.ts'
import { hrefOf, pathOf } from '../names.ts'
import { Refused } from '../refused.ts'
import { davChildren, elementsOf, textOf, type Element } from '../xml-read.ts'
import { dav, emptyElement, multistatusEnd, multistatusHead, statusLine } from '../xml-write.ts'

interface Step {
  readonly sets: boolean
  readonly property: Element
}

const maximumBytes = 64 * 1024
const windowsUri = 'urn:schemas-microsoft-com:'

export async function proppatch(exchange: Exchange): Promise<void> {
  const { walk, door } = exchange
  const body = await exchange.xml()
  if (body?.uri !== 'DAV:' || body.local !== 'propertyupdate')
    throw new Refused(400, 'the body is no propertyupdate')
  const resource = await walk.get(exchange.names)
  await exchange.checkLocks({ names: resource.names, reach: 'one' })
  const steps = davChildren(body)
    .filter(({ local }) => local === 'set' || local === 'remove')
    .flatMap((change) =>
      davChildren(change, 'prop')
        .flatMap(elementsOf)
        .map((property): Step => ({ sets: change.local === 'set', property })),
    )
  const isRefused = steps.some(({ property }) => isProtected(property))
  if (!isRefused) {
    const path = pathOf(resource.names)
    const after = steps.reduce(applied, door.properties.of(path))
    if (after.reduce((sum, { source }) => sum + source.length, 0) > maximumBytes)
      throw new Refused(507, 'a resource has room for 64 KiB of properties')
    const mtime = steps.map(windowsTime).findLast((time) => time !== undefined)
    if (mtime !== undefined)
      await walk.operations.setattr(resource.attributes.ino, { mtime }, undefined, walk.changeCaller)
    await door.properties.set(path, after)
  }
  const stats = steps.map(({ property }) => {
    if (!isRefused) return propstat(property, 200)
    return isProtected(property)
      ? propstat(property, 403, dav('error', dav('cannot-modify-protected-property')))
      : propstat(property, 424)
  })
  const href = dav('href', hrefOf(resource.names, resource.attributes.kind === 'folder'))
  exchange.endXml(207, multistatusHead + dav('response', href + stats.join('')) + multistatusEnd)
}

function propstat(property: Element, status: number, error = ''): string {
  return dav('propstat', dav('prop', emptyElement(property)) + statusLine(status) + error)
}

function isProtected({ uri, local }: Element): boolean {
  return uri === 'DAV:' && isLive(local)
}

function applied(properties: readonly DeadProperty[], { sets, property }: Step): readonly DeadProperty[] {
  const { uri, local, source } = property
  const others = properties.filter((other) => other.uri !== uri || other.local !== local)
  return sets ? [...others, { uri, local, source }] : others
}

/** Returns the modification time that Windows sets by a property of its own. */
function windowsTime({ sets, property }: Step): Time | undefined {
  if (!sets || property.uri !== windowsUri || property.local !== 'Win32LastModifiedTime') return undefined
  const ms = Date.parse(textOf(property))
  return Number.isNaN(ms) ? undefined : { sec: Math.floor(ms / 1000), nsec: 0 }
}
