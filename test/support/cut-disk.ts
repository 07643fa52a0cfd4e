// A small ext4 disk whose power can be cut. Bytes that the file system had handed to the disk by then are there
// afterwards; those in memory only are not, and its journal is replayed at the next mount, as after a real cut. Not
// modelled: a disk that loses or reorders what it was handed and not told to flush.

import { spawnSync } from 'node:child_process'
import { mkdir, open } from 'node:fs/promises'

import { isInstalled, run } from './run.ts'

const diskBytes = 192 * 1024 * 1024

/** Why no such disk can be had on this machine; undefined where it can. */
export function whyNoCutDisk(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root'
  for (const program of ['mkfs.ext4', 'losetup', 'perl'])
    if (!isInstalled(program)) return `not installed: ${program}`
  return spawnSync('losetup', ['-f']).status === 0 ? undefined : 'no loop devices'
}

export interface CutDisk {
  /** Kills the process, and in the same moment nothing reaches the disk any more. */
  cut(pid: number): Promise<void>
  /** Power again. */
  repower(): Promise<void>
  unmount(): Promise<void>
}

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h): from now on nothing is written, the journal neither. */
const cutter =
  'open(my $disk, "<", $ARGV[0]) or die "$!"; kill(9, $ARGV[1]) or die "kill: $!"; ' +
  'my $how = pack("L", 2); ioctl($disk, 0x8004587d, $how) or die "shutdown: $!"'

/** Makes the disk in the file `image` and mounts it at `folder`. `commitSec`: how long ext4 may keep what nobody syncs. */
export async function makeCutDisk(image: string, folder: string, commitSec: number): Promise<CutDisk> {
  const file = await open(image, 'w')
  await file.truncate(diskBytes)
  await file.close()
  await run('mkfs.ext4', ['-q', image])
  await mkdir(folder, { recursive: true })
  // The loop device goes with its mount.
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
