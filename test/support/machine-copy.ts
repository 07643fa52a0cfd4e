// A copy of this machine that a test may change: an overlay over its root file system, in namespaces of its own, with only a
// loopback network. The copy's disk stays between two calls of `run`; its processes end with each.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ownMounts } from './own-mounts.ts'
import { bash, isInstalled, type Ran } from './run.ts'

/** Script that enters the copy and runs `$2` in it as root; `$1` is the folder of the overlay. */
const inCopy = `${ownMounts}
ip link set lo up
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 none run
# The device nodes that udev makes, even if this machine lacks some.
mount -t tmpfs -o mode=755 none dev
mkdir dev/pts dev/shm
while read -r name major minor; do mknod -m 666 "dev/$name" c "$major" "$minor"; done <<'END'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
fuse 10 229
END
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
exec chroot . /usr/bin/env -i HOME=/root USER=root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \\
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$2
# Process 1 must reap orphans: bash does, so it must not exec the last command.
exit 0" bash`

export interface MachineCopy {
  /** Runs a bash script as root. Throws, with its output, if it fails or takes longer than `limitMs`. */
  run(script: string, limitMs: number): Promise<Ran>
}

/** Returns why this machine cannot make a copy in `folder`; undefined if it can. */
export async function whyNoMachineCopy(folder: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can make a copy of the machine'
  const missing = ['unshare', 'ip', 'chroot'].filter((program) => !isInstalled(program))
  if (missing.length > 0) return `${missing.join(', ')} missing`
  const copy = await copyMachine(folder)
  const tried = await copy.run('true', 60_000).catch((error: Error) => error)
  return tried instanceof Error ? `no copy of this machine can be made: ${tried.message}` : undefined
}

/** Makes a copy in `folder`, which must be empty and on a file system that can be an overlay's upper layer. */
export async function copyMachine(folder: string): Promise<MachineCopy> {
  for (const name of ['upper', 'work', 'root']) await mkdir(join(folder, name), { recursive: true })
  return {
    run: (script, limitMs) =>
      bash(
        'unshare --mount --pid --net --uts --fork --kill-child bash -euo pipefail -c "$1" bash "$2" "$3"',
        [inCopy, folder, script],
        { limitMs },
      ),
  }
}
