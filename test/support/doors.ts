// What holds only at some doors: the one table. A case listed here is skipped at that door, with the reason in its title.

import type { DoorName } from './door.ts'

const accessTimeTwice = 'fuse-native hands over the access time in place of the modification time'

/** `topic: title` → why it does not hold at this door. */
export const differences: Readonly<Record<DoorName, Readonly<Record<string, string>>>> = {
  oracle: {},
  object: {
    'refusals: hard links and symbolic links are EPERM': 'the object has no links to refuse',
  },
  kernel: {},
  'kernel-user': {},
  'fuse-native': {
    'unlinked open: a folder goes although a file deleted from it is still open':
      'libfuse keeps such a file in its folder, under a hidden name',
    'unlinked open: a file deleted together with its folder keeps its content for its reader':
      'libfuse keeps such a file in its folder, under a hidden name',
    'names: one that is made for its owner only, as `cp -p` does, is a document too':
      'libfuse 2 does not say how a file is made: what looks like one of sed is sent after a minute',
    'times: access time and modification time are set apart': accessTimeTwice,
    'tools: rsync -a copies once, and the second time nothing': accessTimeTwice,
  },
}
