// Work of `docmount link`.

import type { Link } from '../fs/status.ts'
import { printable } from '../printable.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { localTime } from './local-time.ts'
import type { JsonOption } from './output.ts'

/** One after another, each printed as it comes. Throws at the first that has none. */
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
