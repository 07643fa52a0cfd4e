// A copy of this machine that a test may change as it likes: an overlay over its disk, with processes and a loopback network of
// its own. Its disk stays from one run to the next, its processes end with each.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ownMounts } from './own-mounts.ts'
import { bash, isInstalled, type Ran } from './run.ts'

/** `$1` the folder of the overlay, `$2` what is run in it, by root. */
const inCopy = `${ownMounts}
ip link set lo up
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 none run
# As udev makes them, whatever they are here.
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
# The first process takes in those that lost theirs: it stays bash.
exit 0" bash`

export interface MachineCopy {
  /** Runs a script of bash as root; throws, with what it said, when it fails or takes longer. */
  run(script: string, limitMs: number): Promise<Ran>
}

/** Why no copy can be made here; undefined where it can. */
export async function whyNoMachineCopy(folder: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can make a copy of the machine'
  const missing = ['unshare', 'ip', 'chroot'].filter((program) => !isInstalled(program))
  if (missing.length > 0) return `${missing.join(', ')} missing`
  const copy = await copyMachine(folder)
  const tried = await copy.run('true', 60_000).catch((error: Error) => error)
  return tried instanceof Error ? `no copy of this machine can be made: ${tried.message}` : undefined
}

/** `folder`: empty, and on a disk that an overlay can lie on. */
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
