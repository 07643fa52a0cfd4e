// The kernel's read-ahead for sequential readers of this mount. Its default, 128 KiB, makes four requests where one would do.

import { writeFile } from 'node:fs/promises'
import type { Log } from '../../log.ts'

/** Upper limit: from 1 MiB on, the kernel's first steps grow too, and a program that reads only a file's head fetches far more. */
const readAheadKib = 512

/** Sets the read-ahead. `device`: `major:minor` of the mount. Without root or sysfs, the kernel's default stays. */
export async function widenReadAhead(device: string, log: Log): Promise<void> {
  try {
    await writeFile(`/sys/class/bdi/${device}/read_ahead_kb`, String(readAheadKib))
  } catch (error) {
    log.debug({ error: String(error) }, 'the kernel reads ahead in small steps')
  }
}
