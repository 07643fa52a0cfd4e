// Unmounting by the system's own program, not by the binding's shell command. Always asynchronous, because that program may
// access the drive that this process serves.

import { setTimeout as sleep } from 'node:timers/promises'
import { MountError } from './driver.ts'
import { findOurMount } from './mountinfo.ts'
import { type Ended, runProgram } from './run-program.ts'

/** Long, since the kernel first writes back the pages that programs have left. */
const limitMs = 120_000
/** A signal that ends the daemon also hits its children, and again those that it starts then: systemd signals the whole group. */
const killedTries = 10
const killedPauseMs = 200

/**
 * Unmounts a drive; a missing mount is no error. Throws a MountError: EBUSY if a program uses it and `lazy` is false. `run`
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
