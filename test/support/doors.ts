// Cases of the behaviour suite that are skipped at a door, because they do not hold there; the reason is put into their titles.

import type { DoorName } from './door.ts'

const uploadsUnwritten = 'davfs2 sends a document that was opened for writing, although nothing was written'
const accessTimeTwice = 'fuse-native hands over the access time in place of the modification time'

const howMadeByWebdav = 'WebDAV says neither how a file is made nor that it is synced'
const howMadeByLibfuse = 'libfuse 2 does not say how a file is made: one with a document’s name is sent'

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
    'unlinked open: a file of a program’s own keeps any content for its reader':
      'davfs2 has no such file any more',
    'times: a modification time set while the file is open outlives its close':
      'davfs2 then shows the document as it was before it was written',
    'times: a folder’s times say when its names changed': 'davfs2 keeps times of its own',
    'times: a folder’s times stay while its documents are read and written':
      'davfs2 keeps times of its own, and takes them anew when it looks',
    'temporary saves: mkstemp, xls: tmpy8g_pan0 is renamed over p.xls': howMadeByWebdav,
    'temporary saves: mkstemp, xlsx: tmprlykei2i is renamed over p.xlsx': howMadeByWebdav,
    'temporary saves: mkstemp, pdf: tmpiaannkks is renamed over p3.pdf': howMadeByWebdav,
    'temporary saves: mkstemp with a suffix: tmpq8dkw0aa.csv is renamed over p4.csv': howMadeByWebdav,
    'temporary saves: libgsf, xls: .gsf-save-u9mI4R is renamed over gn.xls': howMadeByWebdav,
    'temporary saves: libgsf, xlsx: .gsf-save-Onl89S is renamed over gn.xlsx': howMadeByWebdav,
    'temporary saves: LibreOffice: lu3124a1b2c3.tmp is renamed over lo.xlsx': howMadeByWebdav,
    'temporary saves: one that is new is saved so, too': howMadeByWebdav,
    'temporary saves: fsync makes a document of a name that tells nothing, and is named after nothing':
      howMadeByWebdav,
    'temporary saves: a file whose name tells nothing is decided, and half a save is not sent':
      howMadeByWebdav,
    'times: a rename moves the change time of a document, and no other': 'davfs2 keeps times of its own',
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
    'temporary saves: mkstemp with a suffix: tmpq8dkw0aa.csv is renamed over p4.csv': howMadeByLibfuse,
    'temporary saves: one that is new is saved so, too': howMadeByLibfuse,
    'savers: python: NamedTemporaryFile, with and without an ending, and os.replace': howMadeByLibfuse,
    'names: one that is made for its owner only, as `cp -p` does, is a document too':
      'libfuse 2 does not say how a file is made: what looks like one of sed is sent after a minute',
    'unseen versions: what is appended to a version that nobody read goes on from that':
      'libfuse 2 does not say which write is an append: the end that the kernel knows counts',
    'times: access time and modification time are set apart': accessTimeTwice,
    'tools: rsync -a copies once, and the second time nothing': accessTimeTwice,
  },
}
