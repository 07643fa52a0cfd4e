// Message when a drive has started.

import type { WebdavAddress } from '../daemon/session-door.ts'
import { webdavAccessText } from './webdav-options.ts'

export interface Live {
  /** A folder; for a drive without a mount, its WebDAV URL. */
  readonly mountpoint: string
  readonly webdav?: WebdavAddress | undefined
}

export async function liveText(project: string, { mountpoint, webdav }: Live): Promise<string> {
  if (webdav === undefined) return `${project} is mounted at ${mountpoint}`
  const isMounted = webdav.url !== mountpoint
  const first = isMounted
    ? `${project} is mounted at ${mountpoint} and served by WebDAV`
    : `${project} is served by WebDAV`
  return `${first}\n${await webdavAccessText(webdav)}`
}
