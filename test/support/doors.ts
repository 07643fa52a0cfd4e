// What holds only at some doors: the one table. A case listed here is skipped at that door, with the reason in its title.

import type { DoorName } from './door.ts'

const uploadsUnwritten = 'davfs2 sends a document that was opened for writing, although nothing was written'
const accessTimeTwice = 'fuse-native hands over the access time in place of the modification time'

/** `topic: title` → why it does not hold at this door. */
export const differences: Readonly<Record<DoorName, Readonly<Record<string, string>>>> = {
  oracle: {},
  object: {
    'refusals: hard links and symbolic links are EPERM': 'the object has no links to refuse',
  },
  kernel: {},
  davfs2: {
    'list: three hundred files are listed once each':
      'davfs2 makes them one after the other, four requests each',
    'rename: a folder over one that is not empty is ENOTEMPTY':
      'MOVE takes the place of a folder and of all that is in it',
    'unlinked open: a deleted file goes on taking writes and is never seen again':
      'davfs2 has no such file any more',
    'times: a modification time set while the file is open outlives its close':
      'davfs2 then shows the document as it was before it was written',
    'times: a folder’s times say when its names changed': 'davfs2 keeps times of its own',
    'times: a folder’s times stay while its documents are read and written':
      'davfs2 keeps times of its own, and takes them anew when it looks',
    'times: fractions of a second are kept': 'davfs2 has whole seconds, as HTTP has',
    'names: composed and decomposed letters are two names': 'this door finds a name in any normal form',
    'names: a name of 255 bytes works': 'davfs2 names its copy after the document, and adds to it',
    'names: a name of 256 bytes is ENAMETOOLONG': 'davfs2 names its copy after the document, and adds to it',
    'editor saves: GIO (gedit, mousepad): temporary file, fsync, rename over': uploadsUnwritten,
    'editor saves: LibreOffice: lock, luNNNN.tmp, rename over, open again, fsync': uploadsUnwritten,
  },
  'kernel-user': {},
  'fuse-native': {
    'unlinked open: a folder goes although a file deleted from it is still open':
      'libfuse keeps such a file in its folder, under a hidden name',
    'unlinked open: a file deleted together with its folder keeps its content for its reader':
      'libfuse keeps such a file in its folder, under a hidden name',
    'names: one that is made for its owner only, as `cp -p` does, is a document too':
      'libfuse 2 does not say how a file is made: what looks like one of sed is sent after a minute',
    'unseen versions: what is appended to a version that nobody read goes on from that':
      'libfuse 2 does not say which write is an append: the end that the kernel knows counts',
    'times: access time and modification time are set apart': accessTimeTwice,
    'tools: rsync -a copies once, and the second time nothing': accessTimeTwice,
  },
}
