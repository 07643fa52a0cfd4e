// Live properties: those that the drive computes. All are protected: clients cannot set them.

import type { Attributes } from '../fs/operations.ts'
import { entityTag, httpDate, isoDate } from './entity-tag.ts'
import type { Door } from './exchange.ts'
import type { Lock } from './locks.ts'
import { hrefOf, pathOf } from './names.ts'
import type { Resource, PathWalk } from './path-walk.ts'
import { dav, escapeText } from './xml-write.ts'

/** Returns the content of a property in XML; undefined if the resource does not have it. */
type Live = (resource: Resource, door: Door, walk: PathWalk) => string | undefined

const ofDocuments =
  (value: (attributes: Attributes) => string): Live =>
  ({ attributes }) =>
    attributes.kind === 'file' ? value(attributes) : undefined

const bothLocks = ['exclusive', 'shared']
  .map((scope) => dav('lockentry', dav('lockscope', dav(scope)) + dav('locktype', dav('write'))))
  .join('')

const space: (free: boolean) => Live =
  (isFree) =>
  ({ attributes }, _door, { operations }) => {
    if (attributes.kind !== 'folder') return undefined
    const { blockSizeBytes, blocks, blocksFree } = operations.statfs()
    return String((isFree ? blocksFree : blocks - blocksFree) * blockSizeBytes)
  }

/** Properties that `allprop` includes. */
const standard: ReadonlyMap<string, Live> = new Map<string, Live>([
  ['displayname', ({ names }) => escapeText(names.at(-1) ?? '')],
  ['resourcetype', ({ attributes }) => (attributes.kind === 'folder' ? dav('collection') : '')],
  ['getlastmodified', ({ attributes }) => httpDate(attributes.mtime)],
  // The service has no time of creation.
  ['creationdate', ({ attributes }) => isoDate(attributes.mtime)],
  ['getcontentlength', ofDocuments(({ size }) => String(size))],
  ['getetag', ofDocuments((attributes) => escapeText(entityTag(attributes)))],
  [
    'getcontenttype',
    ({ names, attributes }, { contentTypeOf }) =>
      attributes.kind === 'file' ? escapeText(contentTypeOf(names.at(-1) ?? '') ?? anyType) : undefined,
  ],
  ['supportedlock', (_resource, { isReadOnly }) => (isReadOnly ? '' : bothLocks)],
  ['lockdiscovery', ({ names }, { locks }) => locks.covering(pathOf(names)).map(activeLock).join('')],
])

/** Properties that are returned only when named (RFC 4331, section 2). */
const optional: ReadonlyMap<string, Live> = new Map([
  ['quota-available-bytes', space(true)],
  ['quota-used-bytes', space(false)],
])

export const anyType = 'application/octet-stream'
export const standardNames: readonly string[] = [...standard.keys()]

/** True for the local name of a live property, in the namespace `DAV:`. */
export function isLive(local: string): boolean {
  return standard.has(local) || optional.has(local)
}

/** Returns the XML element; undefined if the resource has no such property. */
export function liveProperty(
  local: string,
  resource: Resource,
  { door, walk }: { door: Door; walk: PathWalk },
): string | undefined {
  const content = (standard.get(local) ?? optional.get(local))?.(resource, door, walk)
  return content === undefined ? undefined : dav(local, content)
}

export function activeLock({ path, token, isShared, isDeep, owner, timeoutMs }: Lock): string {
  const root = hrefOf(
    path.split('/').filter((name) => name !== ''),
    path === '/',
  )
  return dav(
    'activelock',
    dav('locktype', dav('write')) +
      dav('lockscope', dav(isShared ? 'shared' : 'exclusive')) +
      dav('depth', isDeep ? 'infinity' : '0') +
      owner +
      dav('timeout', `Second-${Math.round(timeoutMs / 1000)}`) +
      dav('locktoken', dav('href', token)) +
      dav('lockroot', dav('href', root)),
  )
}
