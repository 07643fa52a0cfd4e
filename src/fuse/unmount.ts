// Unmounting with the system's own program, never with the binding's shell line. Always asynchronous: the program may ask
// the drive for its attributes, and we are the ones who answer.

import { MountError } from './driver.ts'
import { findOurMount } from './mountinfo.ts'
import { runProgram } from './run-program.ts'

/** The kernel first writes what programs left in memory. */
const limitMs = 120_000

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
    const ended = await run(program, [...flags, '--', mountpoint], { limitMs }).catch(asMissing)
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
    failure = ended.stderr.split('\n')[0] || `exit code ${ended.code}`
    break
  }
  throw new MountError('EIO', `cannot unmount ${mountpoint}: ${failure}`)
}

function asMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
