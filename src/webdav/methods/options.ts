// OPTIONS: what this door can do. A read-only drive has no locks, by which Finder knows to mount it read-only.

import type { Exchange } from '../exchange.ts'

export const reading: readonly string[] = ['OPTIONS', 'GET', 'HEAD', 'PROPFIND']
export const changing: readonly string[] = [
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
  await exchange.noBody()
  exchange.end(200, {
    dav: isReadOnly ? '1' : '1, 2',
    allow: allowed(isReadOnly),
    // Without it Windows takes this for a folder of web pages.
    'ms-author-via': 'DAV',
    'accept-ranges': 'bytes',
  })
}

export function allowed(isReadOnly: boolean): string {
  return (isReadOnly ? reading : [...reading, ...changing]).join(', ')
}
