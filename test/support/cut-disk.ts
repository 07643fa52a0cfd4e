// A small ext4 disk whose power can be cut. Bytes that the file system had written to the disk before the cut are there
// afterwards; those only in memory are lost, and ext4's journal is replayed at the next mount, as after a real cut. Not
// modelled: a disk that loses or reorders written bytes that were not flushed.

import { spawnSync } from 'node:child_process'
import { mkdir, open } from 'node:fs/promises'

import { isInstalled, run } from './run.ts'

const diskBytes = 192 * 1024 * 1024

/** Returns why this machine cannot make such a disk; undefined if it can. */
export function whyNoCutDisk(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root'
  for (const program of ['mkfs.ext4', 'losetup', 'perl'])
    if (!isInstalled(program)) return `not installed: ${program}`
  return spawnSync('losetup', ['-f']).status === 0 ? undefined : 'no loop devices'
}

export interface CutDisk {
  /** Kills the process and cuts the power at the same moment: nothing reaches the disk any more. */
  cut(pid: number): Promise<void>
  /** Restores the power: mounts the disk again. */
  repower(): Promise<void>
  unmount(): Promise<void>
}

/** Perl program that kills a process and calls EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h). */
const cutter =
  'open(my $disk, "<", $ARGV[0]) or die "$!"; kill(9, $ARGV[1]) or die "kill: $!"; ' +
  'my $how = pack("L", 2); ioctl($disk, 0x8004587d, $how) or die "shutdown: $!"'

/** Makes the disk in the file `image`, mounted at `folder`. `commitSec`: seconds until ext4 writes data that is not synced. */
export async function makeCutDisk(image: string, folder: string, commitSec: number): Promise<CutDisk> {
  const file = await open(image, 'w')
  await file.truncate(diskBytes)
  await file.close()
  await run('mkfs.ext4', ['-q', image])
  await mkdir(folder, { recursive: true })
  // mount(8) makes the loop device, which umount frees.
  const mount = async (): Promise<void> => {
    await run('mount', ['-o', `loop,commit=${commitSec}`, image, folder])
  }
  await mount()
  return {
    async cut(pid) {
      await run('perl', ['-e', cutter, folder, `${pid}`])
    },
    async repower() {
      await run('umount', [folder])
      await mount()
    },
    async unmount() {
      await run('umount', ['-l', folder], { mayFail: true })
    },
  }
}
