// Which names never leave the machine: droppings of editors, desktops and download managers, as recorded from real
// programs.

import { mimetypeOfName } from '../../api/mimetype-of.ts'

const scratchPatterns: readonly RegExp[] = [
  /~$/, // emacs, vim, gedit backups
  /^#.*#$/, // emacs autosave
  /^\.#/, // emacs lock
  /^\..+\.sw[a-z]$/, // vim swap
  /^4913$/, // vim's write probe
  /^\.goutputstream-/, // GIO
  /^\.~lock\..*#$/, // LibreOffice lock
  /^lu[0-9a-z]+\.tmp$/i, // LibreOffice save
  /\.osl-tmp$/,
  /\.(tmp|part|partial|filepart|crdownload|download|kate-swp)$/i,
  /^\.com\.google\.Chrome\./,
  /^~\$/, // MS Office owner file
  /^~WR/, // MS Word
  /^~.*\.tmp$/i,
  /^sed[A-Za-z0-9]{6}$/, // sed -i
  /^\.fuse_hidden/,
  /^\.nfs[0-9a-f]+/,
  /^\._/, // macOS resource forks
  /^\.DS_Store$/,
  /^\.Spotlight-V100$/,
  /^\.fseventsd$/,
  /^\.TemporaryItems$/,
  /^\.apdisk$/,
  /^Icon\r$/,
  /^Thumbs\.db$/i,
  /^desktop\.ini$/i,
  /^\.directory$/,
  /^\.hidden$/,
  /^\.xdg-volume-info$/,
  /\.[^.]+-(journal|wal|shm)$/, // SQLite
]

/** rsync and mktemp: `.report.pdf.Xa3b9Z`, but not `.notes.config`, which has a type. */
const randomSuffix = /^\..+\.[A-Za-z0-9]{6}$/

/** True for a name that is kept on this machine only. */
export function isScratchName(name: string): boolean {
  if (scratchPatterns.some((pattern) => pattern.test(name))) return true
  return randomSuffix.test(name) && mimetypeOfName(name) === undefined
}

/** True for a trash folder: refused, so that file managers offer a permanent delete instead of moving documents by upload. */
export function isTrashName(name: string): boolean {
  return name === '.Trash' || name.startsWith('.Trash-') || name === '.Trashes'
}
