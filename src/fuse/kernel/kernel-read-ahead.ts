// How far the kernel reads ahead in a file of this mount: 128 KiB unless root says otherwise, which makes four requests of
// what one could ask for. Only sequential readers get it; the kernel begins each with little.

import { writeFile } from 'node:fs/promises'
import type { Log } from '../../log.ts'

/** Not more: from 1 MiB on the kernel's first steps grow too, and who only looks at a file's head is read half the file. */
const readAheadKib = 512

/** `device`: `major:minor` of the mount. Where it may not be set (no root, no sysfs) the kernel's own stays. */
export async function widenReadAhead(device: string, log: Log): Promise<void> {
  try {
    await writeFile(`/sys/class/bdi/${device}/read_ahead_kb`, String(readAheadKib))
  } catch (error) {
    log.debug({ error: String(error) }, 'the kernel reads ahead in small steps')
  }
}
