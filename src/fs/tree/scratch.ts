// Which files begin on this machine only. A name that tells no type is undecided, and so is a file that is made as temporary
// files are: what becomes of it decides (docs/decisions/undecided-names.md). The names listed here are no documents, ever.
// Folders never stay here.

import { nameWithoutBackupEnding } from '../../api/extension.ts'
import { isTypeDecidedByContent, mimetypeOfName } from '../../api/mimetype-of.ts'

/** How a file was made, as far as the door tells. */
export interface Making {
  /** O_EXCL. */
  readonly exclusive: boolean
  /** Permission bits. */
  readonly mode: number
  /** Open for both. */
  readonly readWrite: boolean
}

/** Traces of half a document, beside its name. */
export interface Traces {
  /** It was made as temporary files are, and has the name that it was made with. */
  readonly isMadeTemporary: boolean
  /** Its last writer was killed before it closed it. */
  readonly isCutOff: boolean
}

/** Files that programs keep beside a document while they work on it, and desktops in every folder. */
const ownPatterns: readonly RegExp[] = [
  /^#.+#$/, // emacs autosave
  /^\.#./, // emacs lock
  /^\..+\.sw[a-z]$/, // vim swap
  /^\..+\.un~$/, // vim undo history
  /^\.~lock\..+#$/, // LibreOffice lock
  /^~\$./, // MS Office owner file
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

/** libfuse 2 keeps a deleted file that is open under this name until its last close. */
const hiddenName = /^\.fuse_hidden[0-9a-f]{16,}$/

/** True for what belongs to the program or the desktop that made it: no document, ever. */
export function isOwnName(name: string): boolean {
  return ownPatterns.some((pattern) => pattern.test(name))
}

/** As mkstemp(3) makes them: nobody else opens a new file so. */
export function isMadeAsTemporary({ exclusive, readWrite, mode }: Making): boolean {
  return exclusive && readWrite && (mode & 0o777) === 0o600
}

/** True for a name with an ending that tells no type, or a hidden one: `contract.signed`, `a.csv.tmp`, `.in.a.pdf.`; not for `No. 12`. */
export function isUndecidedName(name: string): boolean {
  return isTypeDecidedByContent(name) && /^\.|\.[^.\s]+$/.test(nameWithoutBackupEnding(name) ?? name)
}

/** True for a new file that begins its life on this machine only. `isBeside`: true for a name that is in the same folder. */
export function beginsHere(name: string, isTemporary: boolean, isBeside: (name: string) => boolean): boolean {
  return isTemporary || isOwnName(name) || isUndecidedName(name) || isBackupOf(name, isBeside)
}

/** True for a name that a file which is on this machine only may go on to without becoming a document at once. */
export function isLocalName(name: string): boolean {
  return isOwnName(name) || isUndecidedName(name) || isBackupOf(name, () => true)
}

/** True for the name of the old version on its way out, perhaps: a document renamed to it is given a moment. `f.bak` is asked for. */
export function isBackupName(name: string): boolean {
  return isTypeDecidedByContent(name) && nameWithoutBackupEnding(name) === undefined
}

/** True for a document that libfuse hides until its last close: it is deleted. */
export function isHiddenName(name: string): boolean {
  return hiddenName.test(name)
}

/**
 * Why a file that has been quiet for a while is no document even so; undefined where its content decides. `isBeside`: true for a
 * document that is in the same folder.
 */
export function whyLocal(
  name: string,
  isBeside: (name: string) => boolean,
  { isMadeTemporary, isCutOff }: Traces,
): string | undefined {
  if (isOwnName(name)) return 'belongs to the program that made it'
  if (isBackupOf(name, isBeside)) return `a backup of ${name.slice(0, -1)}`
  // A save that stopped in the middle. Somebody may want to have a log that was cut off.
  const isHalf = isMadeTemporary && isCutOff
  const mayBeHalf = isMadeTemporary || isCutOff
  const isUnfinished = isHalf || (mayBeHalf && namedAfter(name, isBeside) !== undefined)
  return isUnfinished ? 'its program has not finished it' : undefined
}

/**
 * The document that a file beside it is named after: `report.pdf` for `report.pdf_tmp`, `.report.pdf.Xa3b9Z` and
 * `.xdp-report.pdf.q`, `plan` for `plan.new`; undefined for none. `isBeside`: true for a document that is in the same folder.
 */
export function namedAfter(name: string, isBeside: (name: string) => boolean): string | undefined {
  const decorated = /^[^\p{L}\p{N}]+/u.exec(name)?.[0].length ?? 0
  for (let start = 0; start < name.length; start++) {
    if (start > 0 && isWordAt(name, start - 1)) continue
    for (let end = name.length; end > start; end--) {
      if (end - start === name.length) continue
      const found = name.slice(start, end)
      // A name that tells its type may stand anywhere; another is a beginning, up to where a word ends.
      const isPossible =
        mimetypeOfName(found) === undefined
          ? start <= decorated && !isWordAt(name, end)
          : !/\p{L}/u.test(name.charAt(end))
      if (isPossible && isBeside(found)) return found
    }
  }
  return undefined
}

/** `report.docx` for `.report.docx.Xa3b9Z` and `report.docx.part`: what such a file is sure to be called in the end. */
export function finalName(name: string): string {
  return name.replace(/^\.?(.+)\.[^.]+$/, '$1')
}

/** True for a trash folder. But for a user's own in the root it is refused, so that file managers offer a permanent delete. */
export function isTrashName(name: string): boolean {
  return name === '.Trash' || name.startsWith('.Trash-') || name === '.Trashes'
}

/** `f~` beside `f`: editors' backups, whoever made them. */
function isBackupOf(name: string, isBeside: (name: string) => boolean): boolean {
  return name.length > 1 && name.endsWith('~') && isBeside(name.slice(0, -1))
}

function isWordAt(name: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(name.charAt(at))
}
