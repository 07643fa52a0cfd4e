// Properties that the drive itself answers. All are protected; a client changes them by what it does.

import type { Attributes } from '../fs/operations.ts'
import { entityTag, httpDate, isoDate } from './entity-tag.ts'
import type { Door } from './exchange.ts'
import type { Lock } from './locks.ts'
import { hrefOf, pathOf } from './names.ts'
import type { Resource, PathWalk } from './path-walk.ts'
import { dav, escapeText } from './xml-write.ts'

/** Content of a property in XML; undefined where the resource has none of it. */
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

/** Told by `allprop`. */
const usual: ReadonlyMap<string, Live> = new Map<string, Live>([
  ['displayname', ({ names }) => escapeText(names.at(-1) ?? '')],
  ['resourcetype', ({ attributes }) => (attributes.kind === 'folder' ? dav('collection') : '')],
  ['getlastmodified', ({ attributes }) => httpDate(attributes.mtime)],
  // The service knows no other time than that of the content.
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

/** Only told when asked for (RFC 4331, section 2). */
const onRequest: ReadonlyMap<string, Live> = new Map([
  ['quota-available-bytes', space(true)],
  ['quota-used-bytes', space(false)],
])

export const anyType = 'application/octet-stream'
export const usualNames: readonly string[] = [...usual.keys()]

/** Of the namespace DAV: and none that a client may set. */
export function isLive(local: string): boolean {
  return usual.has(local) || onRequest.has(local)
}

/** The element, or undefined where the resource has no such property. */
export function liveProperty(
  local: string,
  resource: Resource,
  { door, walk }: { door: Door; walk: PathWalk },
): string | undefined {
  const content = (usual.get(local) ?? onRequest.get(local))?.(resource, door, walk)
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
