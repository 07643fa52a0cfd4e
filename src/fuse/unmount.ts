// Unmounting with the system's own program, never with the binding's shell line. Always asynchronous: the program may ask
// the drive for its attributes, and we are the ones who answer.

import { setTimeout as sleep } from 'node:timers/promises'
import { MountError } from './driver.ts'
import { findOurMount } from './mountinfo.ts'
import { type Ended, runProgram } from './run-program.ts'

/** The kernel first writes what programs left in memory. */
const limitMs = 120_000
/** A signal that ends the daemon is often sent to all processes of its group, and again to those that came meanwhile: systemd does so. */
const killedTries = 10
const killedPauseMs = 200

/**
 * Takes a mount of ours away. Throws EBUSY while somebody uses it and `lazy` is not set; already gone is success. `run`
 * starts the programs.
 */
export async function unmount(
  mountpoint: string,
  { lazy }: { lazy: boolean },
  run: typeof runProgram = runProgram,
): Promise<void> {
  const attempts = process.getuid?.() === 0 ? ['umount'] : ['fusermount3', 'fusermount']
  let failure = ''
  for (const program of attempts) {
    const flags = program === 'umount' ? (lazy ? ['-l'] : []) : lazy ? ['-u', '-z'] : ['-u']
    let ended: Ended | undefined
    for (let tries = 1; ; tries++) {
      ended = await run(program, [...flags, '--', mountpoint], { limitMs }).catch(asMissing)
      if (ended?.isKilled !== true || tries === killedTries) break
      await sleep(killedPauseMs)
    }
    if (ended === undefined) {
      failure = `${program} is not installed: install fuse3`
      continue
    }
    if (ended.code === 0 || (await findOurMount(mountpoint)) === undefined) return
    if (/busy/i.test(ended.stderr)) {
      throw new MountError(
        'EBUSY',
        `${mountpoint} is in use: close the programs and shells that are in it, then unmount again`,
      )
    }
    const how = ended.isKilled ? `a signal ended ${program}` : `exit code ${ended.code}`
    failure = ended.stderr.split('\n')[0] || how
    break
  }
  throw new MountError('EIO', `cannot unmount ${mountpoint}: ${failure}`)
}

function asMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
