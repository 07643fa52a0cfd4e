// The error of a failed mount, in one line that says what to do.

import { access, constants, readFile } from 'node:fs/promises'

import { MountError, type MountOptions } from '../driver.ts'

/** Finds out the reason, which neither the binding ("fuse failed") nor libfuse (it only prints one) passes on. */
export async function mountFailure(
  error: unknown,
  mountpoint: string,
  options: MountOptions,
): Promise<MountError> {
  const cause = { cause: error }
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) {
    return new MountError(code, `cannot mount on ${mountpoint}: ${code}`, cause)
  }
  if (options.allowOther && process.getuid?.() !== 0 && !(await othersAreAllowed())) {
    return new MountError('EPERM', '--allow-other needs a line user_allow_other in /etc/fuse.conf', cause)
  }
  const fix = (await deviceProblem()) ?? 'its own message stands above; is fuse3 installed?'
  return new MountError('EIO', `libfuse cannot mount on ${mountpoint}: ${fix}`, cause)
}

async function deviceProblem(): Promise<string | undefined> {
  try {
    await access('/dev/fuse', constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
      ? '/dev/fuse is closed to ordinary users: run `chmod 666 /dev/fuse` as root'
      : '/dev/fuse is missing: run `modprobe fuse` as root (a container needs `--device /dev/fuse --cap-add SYS_ADMIN`)'
  }
}

async function othersAreAllowed(): Promise<boolean> {
  const text = await readFile('/etc/fuse.conf', 'utf8').catch(() => '')
  return /^\s*user_allow_other\s*$/m.test(text)
}
