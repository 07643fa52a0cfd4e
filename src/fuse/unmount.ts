// Unmounting with the system's own program, never with the binding's shell line. Always asynchronous: the program may ask
// the drive for its attributes, and we are the ones who answer.

import { spawn } from 'node:child_process'

import { MountError } from './driver.ts'
import { findOurMount } from './mountinfo.ts'

interface Ended {
  readonly code: number | null
  readonly stderr: string
}

/** Takes a mount of ours away. Throws EBUSY while somebody uses it and `lazy` is not set; already gone is success. */
export async function unmount(mountpoint: string, { lazy }: { lazy: boolean }): Promise<void> {
  const attempts = process.getuid?.() === 0 ? ['umount'] : ['fusermount3', 'fusermount']
  let failure = ''
  for (const program of attempts) {
    const flags = program === 'umount' ? (lazy ? ['-l'] : []) : lazy ? ['-u', '-z'] : ['-u']
    const ended = await run(program, [...flags, '--', mountpoint])
    if (ended === 'not installed') {
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
    failure = ended.stderr.trim().split('\n')[0] ?? `exit code ${ended.code}`
    break
  }
  throw new MountError('EIO', `cannot unmount ${mountpoint}: ${failure}`)
}

function run(program: string, args: readonly string[]): Promise<Ended | 'not installed'> {
  return new Promise((resolve, reject) => {
    // cwd: never inside the drive. LC_ALL: the reason is read below.
    const env = { ...process.env, LC_ALL: 'C' }
    const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve('not installed')
      else reject(error)
    })
    child.once('close', (code) => resolve({ code, stderr }))
  })
}
