// Rules for files that begin on this machine only. A name that tells no type is undecided, and so is a file that is created as
// temporary files are: its later names and content decide (docs/decisions/undecided-names.md). Files with the names listed here
// are never documents. Folders are never local-only.

import { nameWithoutBackupEnding } from '../../api/extension.ts'
import { isTypeDecidedByContent, mimetypeOfName } from '../../api/mimetype-of.ts'

/** The way a file was created, as far as the door tells. */
export interface Making {
  /** O_EXCL. */
  readonly exclusive: boolean
  /** Permission bits. */
  readonly mode: number
  /** Open for reading and writing. */
  readonly readWrite: boolean
}

/** Signs of an unfinished document, beside its name. */
export interface Traces {
  /** It was created as temporary files are, and has the name that it was created with. */
  readonly isMadeTemporary: boolean
  /** Its last writer was killed before closing it. */
  readonly isCutOff: boolean
}

/** Names of files by which a program tells others that it has the document beside them open. */
const lockPatterns: readonly RegExp[] = [
  /^\.~lock\..+#$/, // LibreOffice
  /^~\$./, // MS Office owner file
]

/** Names of files that programs keep beside a document while they work on it, and desktops in every folder. */
const ownPatterns: readonly RegExp[] = [
  /^#.+#$/, // emacs autosave
  /^\.#./, // emacs lock
  /^\..+\.sw[a-z]$/, // vim swap
  /^\..+\.un~$/, // vim undo history
  ...lockPatterns,
  /.\.kate-swp$/,
  /^\.goutputstream-[A-Za-z0-9]+$/, // GIO, and a PUT through the WebDAV door
  /^\._./, // macOS resource forks
  /^\.DS_Store$/,
  /^\.apdisk$/,
  /^\.metadata_never_index$/, // macOS, on drives that are not to be searched
  /^Icon\r$/,
  /^Thumbs\.db$/i,
  /^desktop\.ini$/i,
  /^\.directory$/,
  /^\.hidden$/,
  /^\.xdg-volume-info$/,
]

/** libfuse 2 renames a deleted file that is still open to such a name until its last close. */
const hiddenName = /^\.fuse_hidden[0-9a-f]{16,}$/

/** True for the name of a file that belongs to the program or desktop that made it, and is never a document. */
export function isOwnName(name: string): boolean {
  return ownPatterns.some((pattern) => pattern.test(name))
}

/** True for the name of a file by which a program tells others that it has a document open. */
export function isLockName(name: string): boolean {
  return lockPatterns.some((pattern) => pattern.test(name))
}

/** True for a file created as mkstemp(3) does: no other program opens a new file like this. */
export function isMadeAsTemporary({ exclusive, readWrite, mode }: Making): boolean {
  return exclusive && readWrite && (mode & 0o777) === 0o600
}

/** True for an ending that tells no type, and for a hidden name: `contract.signed`, `a.csv.tmp`, `.in.a.pdf.`; not for `No. 12`. */
export function isUndecidedName(name: string): boolean {
  return isTypeDecidedByContent(name) && /^\.|\.[^.\s]+$/.test(nameWithoutBackupEnding(name) ?? name)
}

/** True for a new file that begins on this machine only. `isBeside` tells if a name is in the same folder. */
export function beginsHere(name: string, isTemporary: boolean, isBeside: (name: string) => boolean): boolean {
  return isTemporary || isOwnName(name) || isUndecidedName(name) || isBackupOf(name, isBeside)
}

/** True for a name that a local-only file may be renamed to without becoming a document at once. */
export function isLocalName(name: string): boolean {
  return isOwnName(name) || isUndecidedName(name) || isBackupOf(name, () => true)
}

/**
 * True for a name that an editor may give to the version it is about to replace (`f.pdf~`, `f.old`): the rename rests for a moment.
 * False for `f.pdf.bak` (a person wants such a copy), and for all names that tell a type.
 */
export function isBackupName(name: string): boolean {
  return isTypeDecidedByContent(name) && nameWithoutBackupEnding(name) === undefined
}

/** True for the name under which libfuse hides a deleted document until its last close. */
export function isHiddenName(name: string): boolean {
  return hiddenName.test(name)
}

/**
 * Returns the reason why a file is no document even after a quiet time; undefined if its content decides. `isBeside` tells if a
 * document of that name is in the same folder.
 */
export function whyLocal(
  name: string,
  isBeside: (name: string) => boolean,
  { isMadeTemporary, isCutOff }: Traces,
): string | undefined {
  if (isOwnName(name)) return 'belongs to the program that made it'
  if (isBackupOf(name, isBeside)) return `a backup of ${name.slice(0, -1)}`
  // A save that stopped in the middle. A cut-off alone does not prove it: a person may want a log that was cut off.
  const isHalf = isMadeTemporary && isCutOff
  const mayBeHalf = isMadeTemporary || isCutOff
  const isUnfinished = isHalf || (mayBeHalf && namedAfter(name, isBeside) !== undefined)
  return isUnfinished ? 'its program has not finished it' : undefined
}

/**
 * Returns the name of the document that a file beside it is named after: `report.pdf` for `report.pdf_tmp`,
 * `.report.pdf.Xa3b9Z` and `.xdp-report.pdf.q`, `plan` for `plan.new`; undefined for none. `isBeside` tells if a document of
 * that name is in the same folder.
 */
export function namedAfter(name: string, isBeside: (name: string) => boolean): string | undefined {
  const decorated = /^[^\p{L}\p{N}]+/u.exec(name)?.[0].length ?? 0
  for (let start = 0; start < name.length; start++) {
    if (start > 0 && isWordAt(name, start - 1)) continue
    for (let end = name.length; end > start; end--) {
      if (end - start === name.length) continue
      const found = name.slice(start, end)
      // A name that tells its type may be anywhere in it; any other only at the beginning, and up to the end of a word.
      const isPossible =
        mimetypeOfName(found) === undefined
          ? start <= decorated && !isWordAt(name, end)
          : !/\p{L}/u.test(name.charAt(end))
      if (isPossible && isBeside(found)) return found
    }
  }
  return undefined
}

/** Returns the final name of a temporary file: `report.docx` for `.report.docx.Xa3b9Z` and `report.docx.part`. */
export function finalName(name: string): string {
  return name.replace(/^\.?(.+)\.[^.]+$/, '$1')
}

/** True for a trash folder. But for a user's own in the root it is refused, so that file managers offer a permanent delete. */
export function isTrashName(name: string): boolean {
  return name === '.Trash' || name.startsWith('.Trash-') || name === '.Trashes'
}

/** True for `f~` if `f` is beside it: a backup of an editor. */
function isBackupOf(name: string, isBeside: (name: string) => boolean): boolean {
  return name.length > 1 && name.endsWith('~') && isBeside(name.slice(0, -1))
}

function isWordAt(name: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(name.charAt(at))
}
