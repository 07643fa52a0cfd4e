// OPTIONS: the abilities of this door. A read-only drive offers no locks: then Finder mounts it read-only.

import type { Exchange } from '../exchange.ts'

const readMethods: readonly string[] = ['OPTIONS', 'GET', 'HEAD', 'PROPFIND']
export const changeMethods: readonly string[] = [
  'PUT',
  'DELETE',
  'MKCOL',
  'COPY',
  'MOVE',
  'PROPPATCH',
  'LOCK',
  'UNLOCK',
]

export async function options(exchange: Exchange): Promise<void> {
  const { isReadOnly } = exchange.door
  await exchange.refuseBody()
  exchange.end(200, {
    dav: isReadOnly ? '1' : '1, 2',
    allow: allowed(isReadOnly),
    // Without it, Windows treats the drive as a web site.
    'ms-author-via': 'DAV',
    'accept-ranges': 'bytes',
  })
}

export function allowed(isReadOnly: boolean): string {
  return (isReadOnly ? readMethods : [...readMethods, ...changeMethods]).join(', ')
}
