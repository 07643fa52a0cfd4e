// Implements `docmount link`.

import type { Link } from '../fs/status.ts'
import { printable } from '../printable.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { localTime } from '../local-time.ts'
import type { JsonOption } from './output.ts'

/** Returns the links of all paths; without --json, prints each at once. Throws at the first path that has none. */
export async function linksOf(paths: readonly string[], { json }: JsonOption): Promise<readonly Link[]> {
  const links: Link[] = []
  for (const path of paths) {
    const { found, path: inside } = await findDrive(path)
    const link = await askDrive(found, 'link', { path: inside })
    links.push(link)
    if (json === true) continue
    console.log(printable(link.url))
    console.error(`${printable(path)}: holds until ${localTime(link.until)}`)
  }
  return links
}
